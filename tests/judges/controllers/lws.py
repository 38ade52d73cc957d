"""LeaderWorkerSet v0.8.0: its controller, and its webhooks for the sets and for their pods."""

from __future__ import annotations

from tests.judges.bench import Bench, free_port

MODULE = "sigs.k8s.io/lws"
POD_LABEL = "leaderworkerset.sigs.k8s.io/name"


def start(bench: Bench) -> None:
    config = bench.source(MODULE) / "config"
    bench.install(*sorted((config / "crd" / "bases").glob("*.yaml")))
    port = free_port()
    file = bench.component("config.lws.x-k8s.io/v1alpha1", port)
    bench.start("lws-controller", f"--config={file}", f"--kubeconfig={bench.kubeconfig}", port=port)
    limited = {"mpod.kb.io": POD_LABEL, "vpod.kb.io": POD_LABEL}
    bench.webhooks(port, config / "webhook" / "manifests.yaml", pods=limited)
