"""Answers made by hand: a gang of twelve GPUs, and clusters that can take it or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from advisor.cluster import Gap
from advisor.errors import Fault, Where
from advisor.verdict import (
    ANY_ORDER,
    FITS,
    FULL,
    NEVER,
    REDUCED,
    UNKNOWN,
    Answer,
    Change,
    Placement,
    Reason,
    Report,
    Verdict,
)
from advisor.workload import DeviceClaim, Note, RoleState, SharedClaim, State, Unmodelled, Workload
from tests.builders import GPU, NOON, gang, pod, role, workload

TEMPLATE = pod(cpu=8, memory="64Gi", gpu=4)


def llama(**facts: Any) -> Workload:
    """One leader and two workers with four GPUs each."""
    asked = {"name": "llama", "kind": "JobSet", "api_version": "jobset.x-k8s.io/v1alpha2", **facts}
    roles = (role("leader", 1, template=TEMPLATE), role("worker", 2, template=TEMPLATE))
    return workload(*roles, groups=[gang(leader=1, worker=2)], **asked)


def everything() -> Workload:
    """A workload that has something in every field."""
    nic = DeviceClaim("nic", claim="shared", devices={"nic": 2}, shared=True)
    leader = role("leader", 1, cpu=0.5, fields={"device_claims": (DeviceClaim("gpu", template="one-gpu"), nic)})
    worker = role("worker", 4, minimum=2, cpu=96, gpu=8, storage="1500G")
    here, none = RoleState(1, 1, 2, {"gpu-1": 1}, failed=1), RoleState(2, 0, 0, {})
    return workload(
        leader,
        replace(worker, maximum=8, starts_after="leader"),
        replace(role("proxy", 2, memory="100M"), injected=True),
        name="all",
        kind="PyTorchJob",
        api_version="kubeflow.org/v1",
        groups=[gang(leader=1), gang(2, worker=2)],
        min_available=3,
        shared_claims=(SharedClaim("shared", nic.devices, {"leader": 1}),),
        notes=(Note("default", "nothing is said, so one leader", "spec.replicas"), Note("version", "another version")),
        state=State(
            "Working",
            ("Running",),
            {"leader": here, "worker": none, "proxy": none},
            RoleState(1, 0, 0, {"gpu-2": 1}),
            ("may not list jobs (403)",),
        ),
        unmodelled=(Unmodelled("spec.runPolicy.schedulingPolicy", "a queue of Volcano"),),
    )


def faulty() -> Workload:
    fault = Fault('"8Gb" is not a quantity', ("spec", "memory"), Where("bad.yaml", 7), 'leave the b away: "8G"')
    return replace(llama(name="bad"), roles=(), groups=(), faults=(fault,), source=Where("bad.yaml", 1))


def eu() -> Verdict:
    assignment = {"leader": {"h200-01": 1}, "worker": {"h200-01": 1, "h200-02": 1}}
    return Verdict(
        "eu-h200",
        FITS,
        placement=Placement(assignment, ANY_ORDER),
        free=24,
        largest={"leader": 1, "worker": 2},
        taken_at=NOON - timedelta(seconds=4),
        why="on 2 nodes, in any order",
        notes=(Reason("waiting-pods", has=3, text="3 pending pods of the same priority may take the room first"),),
    )


def us() -> Verdict:
    fragments = "18 nvidia.com/gpu free in all, but no node has the 4 that one worker pod needs"
    short = Reason(
        "fragmentation", "NodeResourcesFit", "", False, GPU, 4, 3, "worker", 6, enough=0, total=18, text=fragments
    )
    tainted = Reason(
        "taint", "TaintToleration", "maintenance=true:NoSchedule", role="leader", nodes=2, text="2 tainted"
    )
    amounts = {"cpu": 96_000, GPU: 8}
    nodes = Change("add-nodes", "h100-01", 2, amounts, text="2 more nodes like h100-01 (96 cpu, 8 GPUs)")
    return Verdict(
        "us-h100",
        FULL,
        free=18,
        largest={"leader": 1, "worker": 1},
        reasons=(short, tainted),
        changes=(nodes, Change("add-toleration", "maintenance=true", 2, text="tolerate maintenance=true (2 nodes)")),
        taken_at=NOON - timedelta(hours=3),
        gaps=(Gap("resourcequotas", "forbidden", "user reader may not list resourcequotas at cluster scope"),),
        why=fragments,
    )


def l4() -> Verdict:
    text = "no usable node is large enough: one leader pod needs 4 nvidia.com/gpu, the largest has 1"
    reason = Reason(
        "insufficient-gpu", "NodeResourcesFit", resource=GPU, needs=4, has=1, role="leader", nodes=12, enough=0
    )
    return Verdict(
        "us-l4",
        NEVER,
        free=12,
        largest={"leader": 0, "worker": 0},
        reasons=(replace(reason, text=text),),
        taken_at=NOON,
        why=text,
    )


def unread() -> Verdict:
    text = "127.0.0.1:6443 cannot be reached: connection refused"
    doubt = Reason("unreadable", subject="cluster", text=text)
    return Verdict("fra", UNKNOWN, doubts=(doubt,), taken_at=NOON, gaps=(Gap("cluster", "refused", text),), why=text)


def smaller() -> Verdict:
    placed = Placement({"leader": {"x-1": 1}, "worker": {"x-2": 1}})
    reason = Reason("insufficient-gpu", resource=GPU, needs=12, has=8, nodes=2, text="8 free, 12 needed in all")
    return Verdict(
        "eu-small",
        REDUCED,
        placement=placed,
        free=8,
        largest=placed.size,
        reasons=(reason,),
        taken_at=NOON,
        why="1 leader, 1 worker pods fit; 8 free, 12 needed in all",
    )


def answer(*verdicts: Verdict, of: Workload | None = None, chosen: int | None = None) -> Answer:
    choice = None if chosen is None else verdicts[chosen]
    return Answer(of or llama(), verdicts, choice, GPU)


def report(*answers: Answer) -> Report:
    return Report(NOON, answers)


def placed() -> Report:
    """Chosen, fragmented, never, and not read."""
    return report(answer(eu(), unread(), us(), l4(), chosen=0))


def nowhere() -> Report:
    return report(answer(us(), l4()))


def various() -> Report:
    """Something in every field, for schemas."""
    reduced = replace(answer(smaller(), chosen=0), workload=everything())
    return report(*placed().answers, *nowhere().answers, reduced, answer(of=faulty()))


def lines(text: str) -> Sequence[str]:
    assert text.endswith("\n")
    return text.removesuffix("\n").split("\n")
