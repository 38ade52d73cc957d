"""KServe v0.15.2: InferenceServices and InferenceGraphs, with its webhooks, on Knative Serving.

The configuration, the serving runtimes and the storage initialiser are those of its release; only Istio, which is not
there, is left out of it. KEDA does not run either: what is written for it is only written down.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from tests.judges.bench import Bench, free_port

MODULE = "github.com/kserve/kserve"
NAMESPACE = "kserve"
POD_MUTATOR = "inferenceservice.kserve-webhook-server.pod-mutator"


def start(bench: Bench) -> None:
    config = bench.source(MODULE) / "config"
    bench.install(*sorted((config / "crd" / "full").glob("serving.kserve.io_*.yaml")))
    bench.server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    bench.server.create(_without_istio(config / "configmap" / "inferenceservice.yaml"))
    bench.stub("keda.sh", "v1alpha1", "ScaledObject")
    port = free_port()
    bench.certificates("tmp", "k8s-webhook-server", "serving-certs")
    bench.start(
        "kserve-controller",
        *(f"--kubeconfig={bench.kubeconfig}", f"--webhook-port={port}"),
        *("--metrics-addr=0", "--health-probe-addr=0"),
        environment={"POD_NAMESPACE": NAMESPACE},
        port=port,
    )
    bench.webhooks(port, config / "webhook" / "manifests.yaml")
    for file in (*sorted((config / "runtimes").glob("kserve-*.yaml")), config / "storagecontainers" / "default.yaml"):
        for found in yaml.safe_load_all(file.read_text()):
            bench.server.create(found)


def _without_istio(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(file.read_text())
    ingress = json.loads(content["data"]["ingress"]) | {"disableIstioVirtualHost": True}
    content["data"]["ingress"] = json.dumps(ingress)
    content["metadata"]["namespace"] = NAMESPACE
    return content
