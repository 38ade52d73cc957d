"""Kubeflow Trainer v2.2.0: TrainJob and its runtimes, with its webhooks; the JobSets that it makes need JobSet.

A runtime may ask for gangs by Volcano, which does not run here: its PodGroups are only written down.
"""

from __future__ import annotations

import json

from tests.judges.bench import Bench, free_port

MODULE = "github.com/kubeflow/trainer/v2"


def start(bench: Bench) -> None:
    base = bench.source(MODULE) / "manifests" / "base"
    bench.install(*sorted((base / "crds").glob("trainer.kubeflow.org_*.yaml")))
    bench.stub("scheduling.volcano.sh", "v1beta1", "PodGroup")
    port = free_port()
    bench.certificates("tmp", "k8s-webhook-server", "serving-certs")
    settings = {
        "apiVersion": "config.trainer.kubeflow.org/v1alpha1",
        "kind": "Configuration",
        "webhook": {"host": "127.0.0.1", "port": port},
        "leaderElection": {"leaderElect": False},
        "certManagement": {"enable": False},
        "metrics": {"bindAddress": "0", "secureServing": False},
        "health": {"healthProbeBindAddress": "0"},
    }
    file = bench.write("config.yaml", json.dumps(settings))
    bench.start("trainer-controller", f"--config={file}", f"--kubeconfig={bench.kubeconfig}", port=port)
    bench.webhooks(port, base / "webhook" / "manifests.yaml")
