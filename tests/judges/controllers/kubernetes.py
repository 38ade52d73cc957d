"""kube-controller-manager, which every other controller needs as well.

Left out is what looks after nodes and volumes (nobody heartbeats, and nothing is provisioned) and the garbage collector
of pods. The autoscaler looks at once, not every quarter of a minute.
"""

from __future__ import annotations

from tests.judges.bench import Bench

CONTROLLERS = (
    "job-controller",
    "cronjob-controller",
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "horizontal-pod-autoscaler-controller",
    "endpoints-controller",
    "endpointslice-controller",
    "garbage-collector-controller",
)


def start(bench: Bench) -> None:
    bench.server.start_controller_manager(CONTROLLERS, ("--horizontal-pod-autoscaler-sync-period=2s",))
