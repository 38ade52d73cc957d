"""JobSet v0.11.1: its controller, and its webhooks for JobSets and for the pods of exclusive topologies."""

from __future__ import annotations

from tests.judges.bench import Bench, free_port

MODULE = "sigs.k8s.io/jobset"
POD_LABEL = "jobset.sigs.k8s.io/jobset-name"


def start(bench: Bench) -> None:
    config = bench.source(MODULE) / "config" / "components"
    bench.install(*sorted((config / "crd" / "bases").glob("*.yaml")))
    port = free_port()
    file = bench.component("config.jobset.x-k8s.io/v1alpha1", port, featureGates={"InPlaceRestart": True})
    bench.start("jobset-controller", f"--config={file}", f"--kubeconfig={bench.kubeconfig}", port=port)
    limited = {"mpod.kb.io": POD_LABEL, "vpod.kb.io": POD_LABEL}
    bench.webhooks(port, config / "webhook" / "manifests.yaml", pods=limited)
