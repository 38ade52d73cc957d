"""The only place that knows English: codes and numbers to sentences that help somebody act."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from advisor.cluster import Gap
from advisor.quantity import canonical, readable
from advisor.resources import MOST, PODS
from advisor.verdict import ANY_ORDER, NOTES, Answer, Change, Reason, Verdict

PLAIN: Mapping[str, str] = {
    "cordoned": "{nodes} cordoned",
    "not-ready": "{nodes} not ready",
    "node-going-away": "{nodes} on the way out ({subject})",
    "virtual-node": "{nodes} virtual: what they offer says nothing of single machines",
    "taint": "{nodes} with the taint {subject}, which the pods do not tolerate",
    "wrong-system": "{nodes} run {subject}",
    "node-name": "the template names node {subject}, so {nodes} cannot be used",
    "node-affinity": "{nodes} without {subject}",
    "anti-affinity": "required anti-affinity keeps the pods apart ({subject})",
    "shared-gpu": "{nodes} with time-sliced {resource}: slices, not whole devices",
    "gpu-sharing-limit": "{nodes} that serve one shared {resource} per container, {needs} are asked for",
    "gpu-reconfiguring": "{nodes} whose {resource} are being reconfigured",
    "hami-split": "{nodes} whose {resource} HAMi splits: their count is not of whole devices",
    "dra-served": "{nodes} serve {resource} through DRA, which is not evaluated",
    "admission-toleration": "{nodes} with the taint {subject}: an admission plugin may add the toleration, or not",
    "nominated": "{nodes} where {resource} is held for pods of equal or higher priority",
    "no-such-resource": "no node offers {resource}",
    "pvc-missing": "PersistentVolumeClaim {subject} is not there",
    "pvc-zone": "{nodes} from which PersistentVolumeClaim {subject} cannot be used",
    "pvc-in-use": "PersistentVolumeClaim {subject} serves one pod, {needs} pods use it",
    "quota-must-specify": "ResourceQuota {subject}: some container of {role} states none",
    "limitrange": "LimitRange {subject}",
    "invalid-template": "the API server refuses the pods of {role}: {subject}",
    "pod-security": "the API server refuses the pods of {role}: Pod Security level {subject}",
    "kind-not-served": "{subject} is not served there",
    "namespace-missing": "namespace {subject} does not exist",
    "namespace-terminating": "namespace {subject} is being deleted",
    "runtimeclass-missing": "RuntimeClass {subject} does not exist",
    "runtimeclass-conflict": "the RuntimeClass asks for {subject}",
    "priorityclass-missing": "PriorityClass {subject} does not exist",
    "missing-reference": "there is no {subject}, on which its pods depend",
    "refused-there": "the manifest is not valid there: {subject}",
    "gang-too-small": "{subject}",
    "gang-unlike": "{subject}",
    "unsupported": "not evaluated: {subject}",
    "unreadable": "could not read {subject}",
    "solver-limit": "the search for a packing stopped at its limit",
    "no-nodes": "the cluster has no nodes",
}


def tell(answer: Answer) -> Answer:
    """The same answer with every text filled in."""
    verdicts = tuple(_told(verdict, answer.workload.on(verdict.cluster).in_turn) for verdict in answer.verdicts)
    chosen = answer.choice.cluster if answer.choice else None
    return replace(answer, verdicts=verdicts, choice=next((v for v in verdicts if v.cluster == chosen), None))


def _told(verdict: Verdict, in_turn: bool) -> Verdict:
    told = replace(
        verdict,
        reasons=tuple(replace(one, text=reason(one, in_turn)) for one in verdict.reasons),
        doubts=tuple(replace(one, text=_doubt(one, verdict.gaps)) for one in verdict.doubts),
        changes=tuple(replace(one, text=change(one)) for one in verdict.changes),
        notes=tuple(replace(one, text=note(one)) for one in verdict.notes),
    )
    return replace(told, why=_why(told, in_turn))


def _why(verdict: Verdict, in_turn: bool) -> str:
    match verdict.verdict:
        case "fits":
            return _how(verdict, in_turn)
        case "fits-reduced":
            return f"{_size(verdict.placement.size) if verdict.placement else ''} fit; {verdict.reasons[0].text}"
        case "unknown":
            return "; ".join(dict.fromkeys(one.text for one in verdict.doubts)) or "could not be read"
    return verdict.reasons[0].text if verdict.reasons else ""


def _how(verdict: Verdict, in_turn: bool) -> str:
    if verdict.placement is None:
        return ""
    nodes = len({node for there in verdict.placement.assignment.values() for node in there})
    order = "in any order" if verdict.placement.assurance == ANY_ORDER else "with this assignment"
    turns = "in turn and " if in_turn else ""
    return f"on {plural(nodes, 'node')}, {turns}{order}" if nodes else "asks for no pods"


def _size(sizes: Mapping[str, int]) -> str:
    """What is left out altogether is so in a company of others only."""
    named = ", ".join(f"{count} {role}" for role, count in sizes.items())
    pods = "pod" if sum(sizes.values()) == 1 else "pods"
    return f"{named} {pods}" if any(sizes.values()) else "the others without it"


def reason(one: Reason, in_turn: bool = False) -> str:
    """A reason as a clause that can stand alone. `in_turn`: not all pods are there at once."""
    if one.code == "host-port":
        taken = f"taken on {plural(one.nodes, 'node')}" if one.nodes else "for one pod a node"
        return f"host port {one.subject}: {taken}" if one.nodes else "pods with a host port need a node each"
    if one.code == "resource-quota":
        return _quota(one)
    if one.code == "fragmentation":
        return _fragmentation(one)
    if one.code.startswith("insufficient-"):
        return _insufficient(one, in_turn)
    if one.code == "node-name" and one.enough == 0:
        return f"the template names node {one.subject}, which is not there"
    if one.code == "node-affinity" and one.enough == 0:
        return f"no node matches {one.subject}"
    return PLAIN[one.code].format(
        nodes=plural(one.nodes, "node"), subject=one.subject, resource=one.resource, needs=one.needs, role=one.role
    )


def _quota(one: Reason) -> str:
    name = one.resource.partition(".")[2] or one.resource
    has, needs = _amounts(name, one.has, one.needs)
    state = f"allows {has} {one.resource}" if one.lasting else f"has {has} {one.resource} left"
    return f"ResourceQuota {one.subject} {state}, {needs} needed"


def _fragmentation(one: Reason) -> str:
    total, needs = _amounts(one.resource, one.total, one.needs)
    enough = (
        "no node has" if not one.enough else f"only {plural(one.enough, 'node')} {'has' if one.enough == 1 else 'have'}"
    )
    if not one.nodes:
        return f"{total} {_noun(one.resource)} free in all, but no packing puts every pod on a node"
    return f"{total} {_noun(one.resource)} free in all, but {enough} the {needs} that one {one.role} pod needs"


def _insufficient(one: Reason, in_turn: bool) -> str:
    needs, has = _amounts(one.resource, one.needs, one.has)
    noun = _noun(one.resource)
    if one.total is not None:
        together = "at once" if in_turn else "in all"
        return f"{has} {noun} free on {plural(one.nodes, 'usable node')}, {needs} needed {together}"
    if one.enough == 0:
        return f"no usable node is large enough: one {one.role} pod needs {needs} {noun}, the largest has {has}"
    most = f"at most {has} free" if one.has else "none free"
    return f"{plural(one.nodes, 'node')} with too few {noun}: {most}, {needs} needed"


def _amounts(resource: str, *amounts: int | None) -> list[str]:
    """Amounts to be compared: readable ones, or exact ones where different amounts would read alike."""
    known = [amount for amount in amounts if amount is not None]
    texts = {readable(resource, amount) for amount in known}
    write = readable if len(texts) == len(set(known)) else canonical
    return ["?" if amount is None else _bounded(write(resource, amount), amount) for amount in amounts]


def _bounded(text: str, amount: int) -> str:
    """Absurd amounts are cut off where sums of a few would overflow."""
    return f"{text} or more" if amount >= MOST else text


def _noun(resource: str) -> str:
    return "pod slots" if resource == PODS else resource


def _doubt(one: Reason, gaps: tuple[Gap, ...]) -> str:
    if one.code == "unreadable":
        found = next((gap for gap in gaps if gap.what == one.subject), None)
        return found.text if found else reason(one)
    if one.code == "missing-reference":
        return f"its pods depend on {one.subject}, which was not found: --with FILE names it"
    return reason(one)


def change(one: Change) -> str:
    detail = _detail(one.detail)
    match one.kind:
        case "add-nodes":
            return f"{plural(one.count, 'more node')} like {one.subject}{f' ({detail})' if detail else ''}"
        case "free":
            return _freed(one)
        case "uncordon":
            return f"uncordon {one.subject or plural(one.count, 'node')}"
        case "nodes-ready":
            return f"{one.subject or plural(one.count, 'node')} Ready again"
        case "raise-quota":
            return f"ResourceQuota {one.subject} with {detail} left"
        case "create-namespace":
            return f"create namespace {one.subject}"
        case "serve-kind":
            return f"install what serves {one.subject}"
        case "add-toleration":
            return f"tolerate {one.subject} ({plural(one.count, 'node')})"
        case "drop-selector":
            return f"drop the selector {one.subject}"
        case "allow-shared-gpus":
            return "take time-sliced devices"
        case "free-host-port":
            return "do without host ports"
        case "drop-anti-affinity":
            return "drop the required anti-affinity"
    raise ValueError(one.kind)


def _detail(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{readable(name.partition('.')[2] or name, amount)} {name}" for name, amount in amounts.items())


def _freed(one: Change) -> str:
    """Nodes that have to give up the same are named together."""
    alike: dict[str, list[str]] = {}
    for node, amounts in one.nodes.items():
        alike.setdefault(_detail(amounts), []).append(node)
    parts = [f"{what} on {'each of ' if len(nodes) > 1 else ''}{', '.join(nodes)}" for what, nodes in alike.items()]
    return f"free {'; '.join(parts)}"


def note(one: Reason) -> str:
    match one.code:
        case "waiting-pods":
            return f"{plural(one.has or 0, 'pending pod')} of the same or higher priority may take the room first"
        case "other-scheduler":
            return f"scheduler {one.subject} places the pods and may have rules of its own"
        case "scheduling-gates":
            return f"the pods of {one.role} wait until these scheduling gates go: {one.subject}"
        case "not-checked":
            return f"not looked up: {one.subject}"
        case "namespace-assumed":
            return f"namespace {one.subject} is taken to be there"
        case "queue-not-served":
            return f"{one.subject} is not installed there, so a queue named in the manifest means nothing"
        case "bounded-toleration":
            return f"the pods of {one.role} tolerate {one.subject} for a limited time only, then they are evicted"
        case "mixed-architectures":
            return f"nodes of {one.subject} would do for {one.role}: pin kubernetes.io/arch if the image is not for all"
        case "skips-scheduler":
            return f"the pods of {one.role} name node {one.subject} and skip the scheduler"
    return f"{NOTES[one.code]}{f' ({one.subject})' if one.subject else ''}"


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
