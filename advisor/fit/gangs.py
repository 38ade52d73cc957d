"""Gang objects whose pods cannot start together in a cluster, whatever room there is.

Too few of them come at once: more pods name it than there are, or such as are made when others run. Or they are not
alike: kube-scheduler (`validatePodGroup`, 1.37) schedules no pod of a PodGroup unless all have its priority, and one
preemption policy and scheduler name. Others do not look at that: Volcano and KAI take the priority of the group from
its own class and sort gangs by it, coscheduling of scheduler-plugins sorts by the priority of each pod.

More pods may come from elsewhere, and the object may still be changed, so these are doubts. A priority that the API
server does not admit is a refusal: without the object no pod is scheduled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from advisor.cluster import ClusterSnapshot
from advisor.company import role_names, shares, shortages
from advisor.diagnosis import Doubt, PodShape
from advisor.fit import admission
from advisor.verdict import Reason
from advisor.workload import GangObject, Workload


def doubts(workload: Workload, shapes: Mapping[str, PodShape], cluster: ClusterSnapshot) -> Iterator[Doubt]:
    for gang in shortages(workload.objects):
        there = gang.first if gang.needs <= gang.total else gang.total
        yield Doubt(Reason("gang-too-small", subject=f"{gang.title} {gang.text}", needs=gang.needs, has=there))
    for one, pods in _alike(workload, shapes):
        yield from map(Doubt, _differences(one, pods, cluster))


def refusals(workload: Workload, cluster: ClusterSnapshot) -> Iterator[Reason]:
    for gang in _given(workload):
        found, reasons = admission.priority(gang.priority_class, None, cluster)
        for reason in reasons:
            yield Reason(reason.code, subject=f"{gang.priority_class} of {gang.title}")
        if not reasons and not cluster.gap("priorityclasses") and gang.priority not in (None, found.value):
            said = f"spec.priority is {gang.priority}, its class says {found.value}"
            yield Reason("refused-there", subject=f"{gang.title} {said}")


def _given(workload: Workload) -> list[GangObject]:
    every = (each[0].gang for each in shares(workload.objects))
    return [gang for gang in every if gang.alike and gang.given]


def _alike(workload: Workload, shapes: Mapping[str, PodShape]) -> Iterator[tuple[GangObject, list[PodShape]]]:
    """Gang objects whose pods must be alike, with these."""
    names = role_names(workload)
    for each in shares(workload.objects):
        if each[0].gang.alike and each[0].gang.given:
            roles = (names[share.place][role.name] for share in each for role in share.roles)
            yield each[0].gang, [shapes[name] for name in roles]


def _differences(gang: GangObject, pods: Sequence[PodShape], cluster: ClusterSnapshot) -> Iterator[Reason]:
    schedulers = sorted({pod.scheduler for pod in pods})
    if len(schedulers) > 1:
        yield _unlike(gang, f"pods name several schedulers ({', '.join(schedulers)}), and it wants one of all")
    classes = {admission.priority(pod.priority_class, None, cluster)[0] for pod in pods}
    own = admission.priority(gang.priority_class, None, cluster)[0]
    if cluster.gap("priorityclasses"):
        return  # a doubt by itself
    if others := sorted({one.value for one in classes} - {own.value}):
        yield _unlike(gang, f"priority is {own.value}, and pods of it have {', '.join(map(str, others))}")
    elif len({one.preemption for one in (own, *classes)}) > 1:
        names = ", ".join(sorted({one.name for one in (own, *classes)} - {""}))
        yield _unlike(gang, f"pods and it have classes of several preemption policies ({names})")


def _unlike(gang: GangObject, what: str) -> Reason:
    return Reason("gang-unlike", subject=f"{gang.title}: its {what}: kube-scheduler starts none of them")
