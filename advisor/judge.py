"""The verdict of one cluster: a sure yes, a sure no with its kind, or what keeps it from being sure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from advisor import explain, model
from advisor.cluster import Mask
from advisor.diagnosis import EMPTIED, HOPEFUL, World
from advisor.problem import Outcome
from advisor.trial import Trial
from advisor.verdict import ANY_ORDER, FITS, FULL, NEVER, REDUCED, UNKNOWN, Change, Placement, Reason, Verdict

BLINDLY_OPENED = frozenset({"taint", "node-affinity"})
"""Rules that a queue of the cluster may lift, by tolerations or labels that it adds to the pods."""

CURED_BY_LIMITRANGE = frozenset({"quota-must-specify", "invalid-template"})


def judge(trial: Trial) -> Verdict:
    """The verdict of one cluster: sure yes, sure no with its kind, or what keeps it from being sure."""
    verdict = Verdict(
        trial.cluster.name,
        UNKNOWN,
        free=_free(trial),
        doubts=tuple(doubt.reason for doubt in trial.diagnosis.doubts),
        notes=trial.diagnosis.notes,
        gaps=trial.cluster.gaps,
        taken_at=trial.cluster.taken_at,
    )
    if _unreadable(trial):
        return verdict
    if not trial.diagnosis.roles and not trial.diagnosis.refusals:
        return replace(verdict, verdict=UNKNOWN if verdict.doubts else FITS, placement=Placement({}, ANY_ORDER))
    if trial.diagnosis.refusals:
        return _refused(trial, verdict)
    outcome = trial.place()
    if outcome.placed is None:
        return replace(verdict, doubts=(*verdict.doubts, Reason("solver-limit", lasting=False)))
    if outcome.complete:
        sizes = trial.sizes(outcome)
        if verdict.doubts:
            return replace(verdict, largest=sizes)
        placement = trial.placement(outcome, trial.assurance())
        return replace(verdict, verdict=FITS, placement=placement, largest=sizes)
    return _not_now(trial, verdict)


def _unreadable(trial: Trial) -> bool:
    return any(trial.cluster.gap(what) for what in ("cluster", "nodes", "pods"))


def _refused(trial: Trial, verdict: Verdict) -> Verdict:
    """No pod of some role can be created there. A LimitRange that could not be read might cure some refusals."""
    refusals = trial.diagnosis.refusals
    nothing = {found.role.name: 0 for found in trial.diagnosis.roles}
    if trial.cluster.gap("limitranges") and {reason.code for reason in refusals} <= CURED_BY_LIMITRANGE:
        return replace(verdict, doubts=(*verdict.doubts, *refusals), largest=nothing)
    changes = _changes(trial, verdict)
    return replace(verdict, verdict=NEVER, reasons=explain.reasons(trial.case()), largest=nothing, changes=changes)


def _not_now(trial: Trial, verdict: Verdict) -> Verdict:
    """The whole gang does not fit as things were read: perhaps a doubt hides room, perhaps a smaller size fits."""
    doubts = _doubts_that_hide_room(trial)
    if doubts:
        return replace(verdict, doubts=doubts, largest=_largest(trial))
    reasons = explain.reasons(trial.case())
    smaller = model.reduced(trial.problem, trial.search) if _elastic(trial) else None
    if smaller and smaller.complete:
        return _smaller(trial, replace(verdict, largest=trial.sizes(smaller), reasons=reasons), smaller)
    kind = FULL if _would_fit_emptied(trial) else NEVER
    changes = _changes(trial, verdict)
    return replace(verdict, verdict=kind, largest=_largest(trial), reasons=reasons, changes=changes)


def _smaller(trial: Trial, verdict: Verdict, found: Outcome) -> Verdict:
    """At a smaller size it starts, unless nobody knows how many pods a gang object waits for."""
    unseen = (gang for one in trial.workload.objects for gang in one.gangs if not gang.given)
    doubts = (*verdict.doubts, *dict.fromkeys(Reason("missing-reference", subject=gang.title) for gang in unseen))
    if doubts:
        return replace(verdict, verdict=UNKNOWN, doubts=doubts)
    several = len(trial.diagnosis.roles) > 1 or sum(group.count for group in trial.workload.groups) > 1
    notes = (*verdict.notes, Reason("order-decides")) if several else verdict.notes
    return replace(verdict, verdict=REDUCED, placement=trial.placement(found), notes=notes)


def _largest(trial: Trial) -> dict[str, int] | None:
    """None where the search for it ended at its limit."""
    outcome = model.whole_part(trial.problem, trial.search) if trial.problem.has_parts else trial.most
    return None if outcome.placed is None else trial.sizes(outcome)


def _changes(trial: Trial, verdict: Verdict) -> tuple[Change, ...]:
    """While there are doubts no change is suggested: with it the answer would still not be a yes.

    What is missing is counted in pods, whether or not those that fit are whole groups.
    """
    if verdict.doubts or not trial.question.thorough:
        return ()
    placed = {} if trial.diagnosis.refusals else trial.sizes(trial.most)
    return explain.changes(trial.case(), placed)


def _elastic(trial: Trial) -> bool:
    roles = [found.role for found in trial.diagnosis.roles]
    return bool(trial.workload.min_available) or any(role.minimum < role.replicas for role in roles)


def _would_fit_emptied(trial: Trial) -> bool:
    """Would the same nodes take it without ordinary pods? A search that ends at its limit does not prove a never."""
    outcome = trial.place(World(supply=EMPTIED))
    return outcome.complete or outcome.placed is None


def _doubts_that_hide_room(trial: Trial) -> tuple[Reason, ...]:
    """The doubts without which the no would not be sure; none when even the best case is surely a no."""
    opening = [doubt.reason for doubt in trial.diagnosis.doubts if not doubt.restricts]
    without = BLINDLY_OPENED if opening else frozenset()
    best = trial.place(World(supply=HOPEFUL, without=without))
    if best.placed is not None and not best.complete:
        return ()
    return tuple(dict.fromkeys([*opening, *_doubted_nodes(trial), *(doubt.reason for doubt in trial.diagnosis.doubts)]))


def _doubted_nodes(trial: Trial) -> list[Reason]:
    """Rules that may or may not turn nodes down, with the number of nodes, whichever roles are concerned."""
    masks: dict[Reason, Mask] = {}
    for found in trial.diagnosis.roles:
        for rejection in found.rejections:
            if rejection.doubt:
                before = masks.get(rejection.reason)
                masks[rejection.reason] = rejection.nodes if before is None else before | rejection.nodes
    return [replace(reason, nodes=int(nodes.sum())) for reason, nodes in masks.items()]


def _free(trial: Trial) -> int | None:
    """Free units of the accelerator asked for on nodes that some role may use."""
    name = trial.accelerator
    if not name or _unreadable(trial):
        return None
    case = trial.case()
    usable = [explain.eligible(found, case) for found in trial.diagnosis.roles if name in found.shape.requests]
    if not usable:
        return 0
    return int(sum(trial.diagnosis.supply.now[name][np.logical_or.reduce(usable)].tolist()))
