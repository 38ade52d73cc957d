"""A request in, a decision out, and the AdmissionReview that tells of it. No sockets, no clock.

A no is a warning, except where somebody asked for more: in a namespace that is enforced it refuses the object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from advisor.definitions.catalog import Catalog
from advisor.errors import InputError
from advisor.server import wording
from advisor.server.config import Strictness
from advisor.server.leaving import Leaving
from advisor.server.likeness import Likeness
from advisor.server.request import API, DELETE, Request
from advisor.server.store import STALE
from advisor.server.wanted import NOTHING_HELD, Clusters, Held, Wanted, wanted
from advisor.trial import Trial
from advisor.verdict import FULL, NEVER, REDUCED, UNKNOWN, Answer, hangs_on_nodes
from advisor.workload import Workload

FITTING, NOWHERE, REFUSED = "fits", "fits-nowhere", "refused"
WAVED, FREED, FAULTY, UNDECIDED, BROKEN = "waved-through", "freed", "not-readable", "undecided", "fault"
DECISIONS = (FITTING, NOWHERE, REFUSED, WAVED, FREED, FAULTY, UNDECIDED, BROKEN)


@dataclass(frozen=True, slots=True)
class Advice:
    """The answer to a question, and the trial on the cluster that was chosen.

    tie      why only some clusters were asked: what it joins is there (RUNS), or to come there (EXPECTED); "": all were
    lives    of an object that is created: clusters where it seems to exist already
    leaving  its pods on the chosen cluster that go, and are seen as if they were to stay
    looks    how to know its pods there
    staying  role → pods that are taken to be there, whether they are seen or not
    """

    answer: Answer
    chosen: Trial | None
    tie: str = ""
    lives: frozenset[str] = frozenset()
    leaving: Leaving = field(default_factory=dict)
    looks: Likeness | None = None
    staying: Mapping[str, int] = field(default_factory=dict)


Ask = Callable[[Workload, Wanted], Advice]
"""Where do these pods find room, of all that is wanted?"""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided, and what is said about it; `word` is one of DECISIONS.

    holds   is room held for what fits?
    growth  role → pods that the object gets more than before, or fewer
    ended   room need not be held for it any more
    replaced  roles whose pods are to be others than before
    """

    word: str
    allowed: bool = True
    message: str = ""
    warnings: tuple[str, ...] = ()
    audit: Mapping[str, str] = field(default_factory=dict)
    advice: Advice | None = None
    holds: bool = True
    growth: Mapping[str, int] = field(default_factory=dict)
    ended: bool = False
    replaced: frozenset[str] = frozenset()


def review(
    request: Request,
    catalog: Catalog,
    ask: Ask,
    enforced: Strictness | None,
    held: Held = NOTHING_HELD,
    clusters: Clusters = lambda: (),
) -> Decision:
    """The decision. `enforced`: how strict it is where a no is refused; None where everything is allowed. `clusters`:
    where objects are that others refer to.
    """
    if request.operation == DELETE:
        return Decision(WAVED if request.subresource else FREED)
    try:
        asked = wanted(request, catalog, held, clusters)
    except InputError as error:
        return unjudged(FAULTY, wording.faulty(error.faults), enforced)
    if asked.workload is None:
        return _noted(Decision(WAVED), asked)
    decision = _decided(ask(asked.workload, asked), asked, enforced)
    if not decision.allowed:
        return decision
    holds = not (asked.unsure or asked.later)
    return _noted(replace(decision, holds=holds), asked)


def _noted(decision: Decision, asked: Wanted) -> Decision:
    return replace(decision, growth=asked.growth, ended=asked.ended, replaced=asked.replaced)


def unjudged(word: str, lines: tuple[str, ...], enforced: Strictness | None) -> Decision:
    """Nothing can be told of the object. It is let in with a word, except where what is unknown is refused."""
    if enforced and enforced.refuse_unknown:
        return Decision(REFUSED, allowed=False, message=wording.together(lines), audit={"decision": REFUSED})
    return Decision(word, warnings=lines, audit={"decision": word})


def unscaled(why: str, enforced: Strictness | None) -> Decision:
    """It gets more pods, of which nobody knows what they need."""
    return unjudged(UNDECIDED, wording.unscaled(why), enforced)


def _decided(advice: Advice, asked: Wanted, enforced: Strictness | None) -> Decision:
    answer = advice.answer
    said = wording.later() if asked.later else ()
    if answer.choice:
        return Decision(FITTING, warnings=(*wording.fits(answer), *said), audit=_audit(FITTING, answer), advice=advice)
    if enforced and _is_sure(answer, enforced, asked):
        audit = _audit(REFUSED, answer)
        return Decision(REFUSED, allowed=False, message=wording.refusal(answer, advice.tie), audit=audit, advice=advice)
    warnings = (*wording.nowhere(answer, advice.tie), *said)
    return Decision(NOWHERE, warnings=warnings, audit=_audit(NOWHERE, answer), advice=advice)


def _is_sure(answer: Answer, strictness: Strictness, asked: Wanted) -> bool:
    """Is it a no whatever the clusters have that could not be judged? Or is it to be taken as one all the same?

    Where pods go before, it does not matter what is full now; where they come later, neither does which nodes there
    are: an autoscaler takes them away and brings them.
    """
    if (asked.later or asked.unsure) and any(verdict.verdict in (FULL, REDUCED) for verdict in answer.verdicts):
        return False
    if asked.later and any(verdict.verdict == NEVER and hangs_on_nodes(verdict.reasons) for verdict in answer.verdicts):
        return False
    unknown = [verdict for verdict in answer.verdicts if verdict.verdict == UNKNOWN]
    stale = [verdict for verdict in unknown if any(gap.why == STALE for gap in verdict.gaps)]
    others = len(unknown) > len(stale)
    return (strictness.refuse_stale or not stale) and (strictness.refuse_unknown or not others)


def _audit(word: str, answer: Answer) -> dict[str, str]:
    """For the audit log of the API server: short values, nothing of the object's own."""
    verdict, cluster, code = outcome(answer)
    found = {"decision": word, "verdict": verdict, "cluster": cluster, "reason": code}
    return {key: value for key, value in found.items() if value}


def outcome(answer: Answer) -> tuple[str, str, str]:
    """Verdict, cluster and decisive code: of the choice, else of the cluster that comes nearest."""
    if answer.choice:
        return answer.choice.verdict, answer.choice.cluster, ""
    nearest = answer.verdicts[0]
    reasons = nearest.doubts if nearest.verdict == UNKNOWN else nearest.reasons
    return nearest.verdict, "", reasons[0].code if reasons else ""


def response(request: Request, decision: Decision) -> dict[str, Any]:
    """The AdmissionReview to send back."""
    answer: dict[str, Any] = {"uid": request.uid, "allowed": decision.allowed}
    if not decision.allowed:
        answer["status"] = {"code": 403, "reason": "Forbidden", "message": decision.message}
    if decision.warnings:
        answer["warnings"] = list(decision.warnings)
    if decision.audit:
        answer["auditAnnotations"] = dict(decision.audit)
    return {"apiVersion": API, "kind": "AdmissionReview", "response": answer}


def undecided(seconds: float) -> Decision:
    """Time is up: the object is let in, and no room is held for it."""
    return Decision(UNDECIDED, warnings=wording.undecided(seconds), audit={"decision": UNDECIDED})


def broken() -> Decision:
    """A fault of ours never keeps anybody from working."""
    return Decision(BROKEN, warnings=wording.broken(), audit={"decision": BROKEN})
