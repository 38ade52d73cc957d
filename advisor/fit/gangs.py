"""Gang objects that wait for pods which cannot be there: more than name them, or such as are made when others run.

A gang scheduler (coscheduling, Volcano, KAI, kube-scheduler's GangScheduling) then starts none of them. More pods may
come from elsewhere, and the object may still be changed, so it is a doubt and no refusal.
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.company import shortages
from advisor.diagnosis import Doubt
from advisor.verdict import Reason
from advisor.workload import Workload


def doubts(workload: Workload) -> Iterator[Doubt]:
    for gang in shortages(workload.objects):
        there = gang.first if gang.needs <= gang.total else gang.total
        yield Doubt(Reason("gang-too-small", subject=f"{gang.title} {gang.text}", needs=gang.needs, has=there))
