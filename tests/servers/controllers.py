"""The commands of kube-scheduler and kube-controller-manager, out of cluster and with nothing to listen on."""

import json
from collections.abc import Iterable
from pathlib import Path

from tests.servers.build import program
from tests.servers.objects import Object

FOR_STATIC_FLEETS = (
    "job-controller",
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "resourceclaim-controller",
    "resourcequota-controller",
    "persistentvolume-binder-controller",
)
"""Garbage collection, pod GC and node lifecycle stay off: they delete pods, and taint nodes that nobody heartbeats."""

PACE = {"qps": 1000, "burst": 2000}


def scheduler(kubeconfig: Path, gates: str, profile: Object | None = None) -> list[str]:
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": str(kubeconfig), **PACE},
    }
    path = kubeconfig.with_name("scheduler.json")
    path.write_text(json.dumps(configuration | (profile or {})))
    return [
        str(program("kubernetes", "kube-scheduler")),
        f"--config={path}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        f"--feature-gates={gates}",
        "--secure-port=0",
    ]


def manager(kubeconfig: Path, gates: str, key: Path, names: Iterable[str]) -> list[str]:
    return [
        str(program("kubernetes", "kube-controller-manager")),
        *(f"--{role}={kubeconfig}" for role in ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")),
        f"--controllers={','.join(names)}",
        f"--service-account-private-key-file={key}",
        f"--feature-gates={gates}",
        f"--kube-api-qps={PACE['qps']}",
        f"--kube-api-burst={PACE['burst']}",
        "--leader-elect=false",
        "--secure-port=0",
    ]
