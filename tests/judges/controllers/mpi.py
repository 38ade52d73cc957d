"""MPI Operator v0.8.0: MPIJob v2beta1, without webhooks.

It elects a leader whatever is said, and listens on port 8080 for health checks: two of them cannot run at a time.
"""

from __future__ import annotations

from tests.judges.bench import Bench, wait_until_free

MODULE = "github.com/kubeflow/mpi-operator"
NAMESPACE = "kubeflow"
HEALTH = 8080


def start(bench: Bench) -> None:
    bench.install(bench.source(MODULE) / "manifests" / "base" / "kubeflow.org_mpijobs.yaml")
    bench.server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    wait_until_free(HEALTH)
    bench.start(
        "mpi-operator",
        *(f"--kubeConfig={bench.kubeconfig}", f"--lock-namespace={NAMESPACE}", "--threadiness=8"),
        *("--monitoring-port=0", "--kube-api-qps=200", "--kube-api-burst=400"),
        port=HEALTH,
    )
