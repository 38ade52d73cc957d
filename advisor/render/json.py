"""Reports as plain data with the field names that scripts rely on, and that data as JSON.

`schemas/` describes every field. Counts are integers, quantities are strings in Kubernetes' canonical form, a value
that is not known is null. Nothing here depends on anything but the arguments, so equal reports give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from advisor.cluster import Gap
from advisor.company import Shortage, shortages
from advisor.errors import dotted
from advisor.quantity import Amounts, canonical
from advisor.render.ages import age, oldest
from advisor.render.totals import devices, devices_per_pod, per_pod, total
from advisor.verdict import FITS, REDUCED, UNKNOWN, Answer, Change, Comparison, Reason, Report, Verdict
from advisor.workload import GangGroup, Role, RoleState, SharedClaim, State, Workload

API = "wm-place/v1"
Tree = dict[str, Any]


def text(tree: Tree) -> str:
    return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"


def placement_report(
    report: Report,
    exit_code: int,
    passed_over: Mapping[str, int] | None = None,
    recorded: Mapping[str, Sequence[str]] | None = None,
) -> Tree:
    """`passed_over`: documents of other kinds; `recorded`: per cluster, what to know of how it was recorded."""
    return {
        "apiVersion": API,
        "kind": "PlacementReport",
        "asOf": _time(oldest(v for answer in report.answers for v in answer.verdicts) or report.as_of),
        "askedAt": _time(report.as_of),
        "workloads": [_answer(answer, report.as_of, recorded or {}) for answer in report.answers],
        "passedOver": dict(sorted((passed_over or {}).items())),
        "exitCode": exit_code,
    }


def scenario_report(
    base: Tree, steps: Sequence[Comparison], exit_code: int, recorded: Mapping[str, Sequence[str]] | None = None
) -> Tree:
    """`base`: the placement report before the first step. A step's answers are after it."""
    return {
        "apiVersion": API,
        "kind": "ScenarioReport",
        "base": base,
        "steps": [_step(step, recorded or {}) for step in steps],
        "exitCode": exit_code,
    }


def _step(step: Comparison, recorded: Mapping[str, Sequence[str]]) -> Tree:
    return {
        "name": step.name,
        "edits": list(step.edits),
        "workloads": [_answer(answer, step.after.as_of, recorded) for answer in step.after.answers],
        "changed": list(_changed(step)),
        "unmet": [
            {"workload": one.workload, "what": one.what, "expected": one.expected, "found": one.found}
            for one in step.unmet
        ],
    }


def _changed(step: Comparison) -> Iterator[Tree]:
    """Verdicts that are not what they were before the step; null where there was or is none."""
    before, after = _verdicts(step.before), _verdicts(step.after)
    for workload, cluster in dict.fromkeys((*before, *after)):
        then, now = before.get((workload, cluster)), after.get((workload, cluster))
        if then != now:
            yield {"workload": workload, "cluster": cluster, "before": then, "after": now}


def _verdicts(report: Report) -> dict[tuple[str, str], str]:
    return {
        (answer.workload.title, verdict.cluster): verdict.verdict
        for answer in report.answers
        for verdict in answer.verdicts
    }


def workload_report(workloads: Sequence[Workload], passed_over: Mapping[str, int] | None = None) -> Tree:
    short = list(shortages(workloads))
    return {
        "apiVersion": API,
        "kind": "WorkloadReport",
        "workloads": [_described(workload, short) for workload in workloads],
        "passedOver": dict(sorted((passed_over or {}).items())),
    }


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _named(workload: Workload) -> Tree:
    return {
        "apiVersion": workload.api_version,
        "kind": workload.kind,
        "namespace": workload.namespace,
        "name": workload.name,
    }


def _identity(workload: Workload) -> Tree:
    return {
        **_named(workload),
        "source": {"file": workload.source.file, "line": workload.source.line},
        "definition": {"name": workload.definition.name, "from": workload.definition.origin},
    }


def _answer(answer: Answer, as_of: datetime, recorded: Mapping[str, Sequence[str]]) -> Tree:
    workload = answer.workload
    return {
        **_identity(workload),
        "accelerator": answer.accelerator or None,
        "roles": [_role(role) for role in workload.roles],
        "togetherWith": [_named(other) for other in answer.company],
        "choice": _choice(answer.choice) if answer.choice else None,
        "clusters": [_cluster(verdict, as_of, recorded.get(verdict.cluster, ())) for verdict in answer.verdicts],
        "notes": _notes(workload),
        "errors": _errors(workload),
    }


def _choice(verdict: Verdict) -> Tree:
    placement = verdict.placement
    assignment = placement.assignment if placement else {}
    return {
        "cluster": verdict.cluster,
        "verdict": verdict.verdict,
        "assurance": placement.assurance if placement else None,
        "assignment": [{"role": role, "nodes": dict(sorted(nodes.items()))} for role, nodes in assignment.items()],
    }


def _cluster(verdict: Verdict, as_of: datetime, recorded: Sequence[str]) -> Tree:
    fits = verdict.placement if verdict.verdict in (FITS, REDUCED) else None
    return {
        "name": verdict.cluster,
        "verdict": verdict.verdict,
        "why": verdict.why,
        "free": verdict.free,
        "size": fits.size if fits else None,
        "largest": dict(verdict.largest) if verdict.largest is not None else None,
        "reasons": _reasons(verdict),
        "changes": [_change(change) for change in verdict.changes],
        "gaps": [_gap(gap) for gap in verdict.gaps],
        "notes": [{"code": note.code, "role": note.role or None, "text": note.text} for note in verdict.notes],
        "recording": list(recorded),
        "ageSeconds": age(verdict, as_of),
    }


def _reasons(verdict: Verdict) -> list[Tree]:
    """What decides comes first: the doubts of an `unknown`, the refusals of a no."""
    doubts = [_reason(doubt, doubt=True) for doubt in verdict.doubts]
    reasons = [_reason(reason, doubt=False) for reason in verdict.reasons]
    return doubts + reasons if verdict.verdict == UNKNOWN else reasons + doubts


def _reason(reason: Reason, *, doubt: bool) -> Tree:
    return {
        "code": reason.code,
        "role": reason.role or None,
        "filter": reason.filter or None,
        "subject": reason.subject or None,
        "nodes": reason.nodes,
        "nodesWithEnough": reason.enough,
        "needs": _amount(reason, reason.needs),
        "has": _amount(reason, reason.has),
        "total": _amount(reason, reason.total),
        "lasting": reason.lasting,
        "doubt": doubt,
        "text": reason.text,
    }


def _amount(reason: Reason, amount: int | None) -> Tree | None:
    """A reason that counts no resource counts pods: those that share a claim, for example."""
    return None if amount is None else _quantities({reason.resource or "pods": amount})


def _change(change: Change) -> Tree:
    return {
        "kind": change.kind,
        "subject": change.subject or None,
        "count": change.count,
        "amounts": _quantities(change.detail),
        "nodes": {node: _quantities(amounts) for node, amounts in sorted(change.nodes.items())},
        "text": change.text,
        "verified": True,
    }


def _gap(gap: Gap) -> Tree:
    return {"what": gap.what, "why": gap.why, "text": gap.text}


def _described(workload: Workload, short: Sequence[Shortage]) -> Tree:
    gangs = [one for one in short if any(gang in workload.gangs for gang in one.gangs)]
    return {
        **_identity(workload),
        "roles": [{**_role(role), "live": _live(role, workload.state)} for role in workload.roles],
        "totals": _totals(workload),
        "gangGroups": [_group(group) for group in workload.groups],
        "minAvailable": workload.min_available,
        "sharedClaims": [_shared(claim) for claim in workload.shared_claims],
        "status": _status(workload.state),
        "unsupported": [
            *({"path": one.title, "text": one.text} for one in gangs),
            *({"path": asked.path, "text": asked.text} for asked in workload.unmodelled),
        ],
        "notes": _notes(workload),
        "errors": _errors(workload),
    }


def _group(group: GangGroup) -> Tree:
    return {"count": group.count, "members": dict(group.members), "further": group.further}


def _role(role: Role) -> Tree:
    return {
        "name": role.name,
        "replicas": role.replicas,
        "minReplicas": role.minimum,
        "maxReplicas": role.maximum,
        "requests": _quantities(per_pod(role)),
        "deviceClaims": devices_per_pod(role),
        "claims": _claims(role),
        "startsAfter": role.starts_after or None,
        "injected": role.injected,
    }


def _status(state: State | None) -> Tree | None:
    if state is None:
        return None
    return {
        "phase": state.phase,
        "matched": list(state.matched),
        "podsWithoutRole": state.strangers.listed,
        "withoutRole": _pods(state.strangers),
    }


def _live(role: Role, state: State | None) -> Tree | None:
    return None if state is None else _pods(state.roles[role.name])


def _pods(found: RoleState) -> Tree:
    return {
        "pods": found.pods,
        "ready": found.ready,
        "finished": found.finished,
        "failed": found.failed,
        "nodes": dict(sorted(found.nodes.items())),
    }


def _totals(workload: Workload) -> Tree:
    """Devices stand there only where the pods have claims at all."""
    claims = any(role.template.device_claims for role in workload.roles)
    known = {"deviceClaims": devices(workload)} if claims else {}
    return {"pods": workload.pods, **_quantities(total(workload)), **known}


def _shared(claim: SharedClaim) -> Tree:
    return {
        "claim": claim.name,
        "claims": claim.count,
        "devices": claim.devices if claim.devices is None else dict(sorted(claim.devices.items())),
        "sharedBy": dict(claim.roles),
    }


def _claims(role: Role) -> list[Tree]:
    return [
        {
            "name": claim.name,
            "resourceClaimName": claim.claim or None,
            "resourceClaimTemplateName": claim.template or None,
            "devices": claim.devices if claim.devices is None else dict(sorted(claim.devices.items())),
        }
        for claim in role.template.device_claims
    ]


def _notes(workload: Workload) -> list[Tree]:
    return [{"path": note.path or None, "rule": note.rule, "text": note.text} for note in workload.notes]


def _errors(workload: Workload) -> list[Tree]:
    return [
        {
            "path": dotted(fault.path) or None,
            "code": fault.code,
            "text": fault.message,
            "hint": fault.hint or None,
            "line": fault.where.line if fault.where else None,
        }
        for fault in (*workload.faults, *(missing.fault for missing in workload.lacking))
    ]


def _quantities(amounts: Amounts) -> dict[str, str]:
    return {name: canonical(unprefixed(name), amount) for name, amount in sorted(amounts.items())}


def unprefixed(key: str) -> str:
    """The resource that a quota key is about: `requests.cpu` counts in the units of `cpu`."""
    for prefix in ("requests.", "limits."):
        key = key.removeprefix(prefix)
    return key
