"""Operating system and architecture: no filter of kube-scheduler, yet a container image runs on few of each.

The kubelet refuses a pod whose `spec.os.name` is not its own; a template that states no system is taken to be for
Linux. The architectures of an image are in no manifest, so a mixture of them is a note (capacity.md 2.5).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from operator import eq

import numpy as np

from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import PodShape, Rejection, RoleFit
from advisor.verdict import Reason

SYSTEM, ARCHITECTURE = "kubernetes.io/os", "kubernetes.io/arch"
LINUX = "linux"


def examine(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    if SYSTEM in pod.nodes.keys and not pod.operating_system:
        return
    wanted = pod.operating_system or LINUX
    systems = cluster.nodes.label(SYSTEM)
    for system in sorted({value for value in systems.values if value and value != wanted}):
        yield Rejection(Reason("wrong-system", subject=system), systems.where(partial(eq, system)))


def notes(fit: RoleFit, cluster: ClusterSnapshot) -> Iterator[Reason]:
    if ARCHITECTURE in fit.shape.nodes.keys:
        return
    usable = fit.allowed(len(cluster.nodes))
    for name, need in fit.shape.requests.items():
        usable &= cluster.nodes.room(name) >= need
    labels = cluster.nodes.label(ARCHITECTURE)
    found = sorted({labels.values[code] or "" for code in np.unique(labels.codes[usable]).tolist()} - {""})
    if len(found) > 1:
        yield Reason("mixed-architectures", subject=", ".join(found), role=fit.role.name)
