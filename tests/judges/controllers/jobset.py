"""JobSet v0.11.1: its controller, and its webhooks for JobSets and for the pods of exclusive topologies."""

from __future__ import annotations

import json

from tests.judges.bench import Bench, free_port

MODULE = "sigs.k8s.io/jobset"
POD_LABEL = "jobset.sigs.k8s.io/jobset-name"


def start(bench: Bench) -> None:
    config = bench.source(MODULE) / "config" / "components"
    bench.install(*sorted((config / "crd" / "bases").glob("*.yaml")))
    port = free_port()
    settings = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(bench.certificates())},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": "0"},
        "featureGates": {"InPlaceRestart": True},
    }
    file = bench.write("config.yaml", json.dumps(settings))
    bench.start("jobset-controller", f"--config={file}", f"--kubeconfig={bench.kubeconfig}", port=port)
    limited = {"mpod.kb.io": POD_LABEL, "vpod.kb.io": POD_LABEL}
    bench.webhooks(port, config / "webhook" / "manifests.yaml", pods=limited)
