"""What a node's signs say about its accelerators: shared, being reconfigured, split by another system.

No filter of kube-scheduler: it would bind the pod, and the kubelet or the training run would fail afterwards
(capacity.md 7.2, 7.6). The signs themselves are data, `catalog/accelerators.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor import accelerators
from advisor.accelerators import Mark
from advisor.cluster import ClusterSnapshot, Mask
from advisor.diagnosis import PodShape, Rejection
from advisor.verdict import Reason


def examine(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    for resource, amount in pod.requests.items():
        if amount:
            yield from _examine(resource, pod, cluster)


def _examine(resource: str, pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    for mark in sorted(_marks(resource, cluster), key=str):
        reason, doubt = _meaning(mark, resource, pod)
        if reason:
            yield Rejection(reason, _marked(mark, cluster), doubt)


def _marked(mark: Mark, cluster: ClusterSnapshot) -> Mask:
    return cluster.nodes.states.where(lambda state: mark in state.marks)


def _marks(resource: str, cluster: ClusterSnapshot) -> set[Mark]:
    return {mark for state in cluster.nodes.states.values for mark in state.marks if mark.concerns(resource)}


def _meaning(mark: Mark, resource: str, pod: PodShape) -> tuple[Reason | None, bool]:
    """The reason, if the mark matters to this pod, and whether it is only a doubt.

    Slices are refused where ranks of one job would each take "a GPU": two of them may land on one card.
    """
    match mark.means:
        case accelerators.TIME_SLICED if pod.requests[resource] > 1 or pod.one_of_many:
            return Reason("shared-gpu", resource=resource), False
        case accelerators.ONE_PER_CONTAINER if pod.most_per_container.get(resource, 0) > 1:
            return Reason("gpu-sharing-limit", resource=resource, needs=pod.most_per_container[resource], has=1), False
        case accelerators.RECONFIGURING:
            return Reason("gpu-reconfiguring", resource=resource, lasting=False), False
        case accelerators.SPLIT:
            return Reason("hami-split", resource=resource), True
    return None, False
