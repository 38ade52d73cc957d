"""KubeRay v1.5.0: the operator of RayCluster, RayJob and RayService, without webhooks, as its release installs it."""

from __future__ import annotations

from tests.judges.bench import Bench

MODULE = "github.com/ray-project/kuberay/ray-operator"


def start(bench: Bench) -> None:
    bench.install(*sorted((bench.source(MODULE) / "config" / "crd" / "bases").glob("*.yaml")))
    bench.start(
        "kuberay-operator",
        f"--kubeconfig={bench.kubeconfig}",
        "--enable-leader-election=false",
        "--metrics-addr=0",
        "--health-probe-bind-address=0",
        "--reconcile-concurrency=8",
        environment={"ENABLE_WEBHOOKS": "false"},
    )
