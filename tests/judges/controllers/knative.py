"""Knative Serving v0.47.0: controller, autoscaler and webhook.

The webhook takes its certificate from a Secret and fills in configurations of its own, which is of no use here: ours
lead to its URL. Every part of a pod's spec that an administrator can allow is allowed, and no registry is asked for the
digest of an image. The autoscaler listens on port 8080 whatever is said.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

import yaml

from tests.judges import webhooks
from tests.judges.bench import Bench, free_port, wait_until_free
from tests.servers.objects import Objects

MODULE = "knative.dev/serving"
RESOURCES = ("knative.dev/networking", "knative.dev/caching")
NAMESPACE = "knative-serving"
STATISTICS = 8080
REGISTRIES = ("index.docker.io", "docker.io", "ghcr.io", "gcr.io", "nvcr.io", "quay.io", "ko.local", "dev.local")
REGISTRIES_OF_GOOGLE = tuple(f"{place}-docker.pkg.dev" for place in ("us", "us-central1", "europe", "asia"))
PATHS = {"webhook.serving.knative.dev": "/defaulting", "validation.webhook.serving.knative.dev": "/resource-validation"}


def start(bench: Bench) -> None:
    config = bench.source(MODULE) / "config" / "core"
    folders = [config / "300-resources", *(bench.source(module) / "config" for module in RESOURCES)]
    bench.install(*(file for folder in folders for file in sorted(folder.glob("*.yaml"))))
    bench.server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    _configure(bench, config / "configmaps", bench.source(RESOURCES[0]) / "config" / "config-network.yaml")
    _hand_over_certificate(bench)
    port = free_port()
    _start(bench, "webhook", {"WEBHOOK_NAME": "webhook", "WEBHOOK_PORT": str(port)}, port)
    wait_until_free(STATISTICS)
    _start(bench, "autoscaler", {"POD_IP": "10.0.0.1"}, STATISTICS)
    _start(bench, "controller", {}, None)
    given = [one for name in ("defaulting", "resource-validation") for one in _configurations(config, name)]
    for configuration in webhooks.here(given, bench.name, port, bench.server.ca, {}):
        bench.server.create(configuration)


def _start(bench: Bench, name: str, more: dict[str, str], port: int | None) -> None:
    environment = {
        "SYSTEM_NAMESPACE": NAMESPACE,
        "POD_NAME": name,
        "CONFIG_LOGGING_NAME": "config-logging",
        "CONFIG_OBSERVABILITY_NAME": "config-observability",
        "CONFIG_LEADERELECTION_NAME": "config-leader-election",
        "PROFILING_PORT": str(free_port()),
        "METRICS_PROMETHEUS_PORT": str(free_port()),
    }
    flags = (f"--kubeconfig={bench.kubeconfig}", "--kube-api-qps=200", "--kube-api-burst=400")
    bench.start(f"knative-{name}", *flags, environment={**environment, **more}, port=port)


def _configure(bench: Bench, folder: Path, *more: Path) -> None:
    changes = {
        "config-features": _allowed((folder / "features.yaml").read_text()),
        "config-deployment": {"registries-skipping-tag-resolving": ",".join((*REGISTRIES, *REGISTRIES_OF_GOOGLE))},
    }
    for file in (*sorted(folder.glob("*.yaml")), *more):
        for found in yaml.safe_load_all(file.read_text()):
            name = found["metadata"]["name"]
            metadata = {"name": name, "namespace": NAMESPACE}
            data = {key: value for key, value in (found.get("data") or {}).items() if key != "_example"}
            bench.server.create({**found, "metadata": metadata, "data": {**data, **changes.get(name, {})}})


def _allowed(features: str) -> dict[str, str]:
    """Every feature of a pod's spec that the example in the file names."""
    return dict.fromkeys(re.findall(r"^ +(kubernetes\.[a-z-]+): ", features, re.MULTILINE), "enabled")


def _hand_over_certificate(bench: Bench) -> None:
    identity = bench.server.identity
    files = {"server-cert.pem": identity.certificate, "server-key.pem": identity.key, "ca-cert.pem": bench.server.ca}
    data = {name: base64.b64encode(file.read_bytes()).decode() for name, file in files.items()}
    metadata = {"name": "webhook-certs", "namespace": NAMESPACE}
    bench.server.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})


def _configurations(config: Path, name: str) -> Objects:
    found = webhooks.read(config / "webhooks" / f"{name}.yaml")
    for configuration in found:
        for webhook in configuration["webhooks"]:
            webhook["clientConfig"]["service"]["path"] = PATHS[webhook["name"]]
    return found
