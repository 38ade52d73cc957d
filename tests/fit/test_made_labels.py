"""Labels whose values only the running workload tells, in required anti-affinity (capacity.md 5.1, 10.4)."""

from dataclasses import replace
from typing import Any

import pytest

from advisor.cluster import Gap, PriorityClass
from advisor.fit import examine, interpod
from advisor.fit.admission import admit
from advisor.labels import (
    ALIKE,
    KIN,
    STRANGERS,
    Bearer,
    MadeLabel,
    Match,
    PodAffinityTerm,
    Requirement,
    Selector,
    labels,
)
from advisor.workload import Role
from tests.builders import against, bound, cluster, gpus, namespace, node, pod, role, shape, wants, workload
from tests.fit.asking import doubted, refused

HASH, INDEX, OWN = MadeLabel("k", "role"), MadeLabel("k", "pod", guessable=True), MadeLabel("k", "pod")
PART, WHOLE = MadeLabel("k", "part"), MadeLabel("k", "workload")
SOME = MadeLabel("k", "part", sure=False)
YES, NO, HANGS = Match(), None, Match(("k",))


@pytest.mark.parametrize(
    ("text", "on_hash", "on_index", "on_some"),
    [
        ("k", YES, YES, HANGS),
        ("!k", NO, NO, HANGS),
        ("k in (a)", NO, HANGS, NO),
        ("k not in (a)", YES, HANGS, YES),
        ("other", NO, NO, NO),
        ("!other", YES, YES, YES),
    ],
)
def test_5_1_what_is_decided_without_the_value(text: str, on_hash: Any, on_index: Any, on_some: Any) -> None:
    wanted = Selector((wants(text),))
    for label, expected in ((HASH, on_hash), (INDEX, on_index), (SOME, on_some)):
        assert wanted.match(Bearer(()), Bearer((), (label,)), STRANGERS) == expected


def test_5_1_one_expression_that_fails_decides() -> None:
    wanted = Selector((wants("k in (a)"), wants("app=x")))
    assert wanted.match(Bearer(()), Bearer(labels({"app": "y"}), (INDEX,)), STRANGERS) is None
    assert wanted.match(Bearer(()), Bearer(labels({"app": "x"}), (INDEX,)), STRANGERS) == HANGS


def test_5_1_a_value_known_at_this_size_decides() -> None:
    first = MadeLabel("k", "pod", guessable=True, value="0")
    wanted = Selector((wants("k=0"),))
    assert wanted.match(Bearer(()), Bearer((), (first,)), STRANGERS) == YES
    assert wanted.match(Bearer(()), Bearer((), (first.at_another_size(),)), STRANGERS) == HANGS


@pytest.mark.parametrize(
    ("own", "other", "kinship", "same"),
    [
        (HASH, HASH, ALIKE, True),
        (WHOLE, WHOLE, ALIKE, True),
        (WHOLE, WHOLE, KIN, True),
        (HASH, HASH, KIN, False),
        (OWN, OWN, ALIKE, False),
        (INDEX, INDEX, ALIKE, False),
        (INDEX, INDEX, KIN, None),  # both roles count from 0
        (PART, PART, ALIKE, None),
        (PART, PART, KIN, False),
        (MadeLabel("k", "group"), OWN, KIN, None),  # a leader and the workers of its group
        (HASH, HASH, STRANGERS, False),
        (INDEX, INDEX, STRANGERS, None),
        (HASH, "a", STRANGERS, False),
        (INDEX, "0", STRANGERS, None),
        (HASH, "", STRANGERS, False),
        (SOME, HASH, ALIKE, None),
    ],
)
def test_5_1_match_label_keys(own: MadeLabel, other: MadeLabel | str, kinship: str, same: bool | None) -> None:
    there = Bearer((), (other,)) if isinstance(other, MadeLabel) else Bearer(labels({"k": other} if other else {}))
    found = {
        operator: Selector((Requirement("k", operator),)).match(Bearer((), (own,)), there, kinship)
        for operator in ("Same", "Other")
    }
    outcome = {True: YES, False: NO, None: HANGS}
    assert found == {"Same": outcome[same], "Other": outcome[same if same is None else not same]}


NODES = [node("a1", labels={"rack": "a"}), node("a2", labels={"rack": "a"}), node("b1", labels={"rack": "b"})]
LEADER = against("k", "k not in (abc)", key="rack")


def made(*found: MadeLabel) -> dict[str, Any]:
    return {"made": found}


@pytest.mark.parametrize(
    ("term", "label", "sure", "unsure"),
    [
        (LEADER, HASH, ["a1", "a2"], []),  # 10.4: an exclusive leader keeps every other group out
        (against("k=0", key="rack"), INDEX, [], ["a1", "a2"]),
        (against("k=0", key="rack"), HASH, [], []),
        (against("k", key="rack"), INDEX, ["a1", "a2"], []),
        (against("!k", key="rack"), INDEX, [], []),
    ],
)
def test_10_4_the_terms_of_bound_pods(
    term: PodAffinityTerm, label: MadeLabel, sure: list[str], unsure: list[str]
) -> None:
    there = cluster(NODES, [bound(on="a1", anti_affinity=[term])], namespaces=[namespace()])
    mine = shape(fields=made(label))
    assert refused(interpod.examine, mine, there) == sure
    assert doubted(interpod.examine, mine, there) == unsure


def gang_role(label: MadeLabel, *terms: PodAffinityTerm, replicas: int = 2) -> Role:
    return role("a", replicas, template=pod(labels={"app": "a"}, anti_affinity=terms, fields=made(label)))


@pytest.mark.parametrize(
    ("term", "label", "apart", "doubt"),
    [
        (against("k"), INDEX, 1, False),
        (against("k=0"), INDEX, 0, True),
        (against("k=0"), HASH, 0, False),
        (against("k not in (0)"), HASH, 1, False),
    ],
)
def test_5_1_inside_the_gang(term: PodAffinityTerm, label: MadeLabel, apart: int, doubt: bool) -> None:
    there = cluster(NODES, namespaces=[namespace()])
    found = examine(workload(gang_role(label, term)), there, gpus())
    assert len(found.apart) == apart
    assert [one.reason.code for one in found.doubts] == ["unsupported"] * doubt
    assert all(one.restricts and "values of k" in one.reason.subject for one in found.doubts)
    alone = examine(workload(gang_role(label, term, replicas=1)), there, gpus())
    assert (alone.apart, alone.doubts) == ((), ())


@pytest.mark.parametrize(("priority", "kept_out"), [(0, ["a1", "a2"]), (7, [])])
def test_10_4_the_label_with_the_priority_has_the_clusters_number(priority: int, kept_out: list[str]) -> None:
    label = MadeLabel("k", "priority", guessable=True)
    pods = [bound(on="a1", anti_affinity=[against("k=0", key="rack")])]
    classes = (PriorityClass("usual", priority, default=True),)
    there = replace(cluster(NODES, pods, namespaces=[namespace()]), priority_classes=classes)
    mine, _ = admit(pod(fields=made(label)), "team", there)
    assert (refused(interpod.examine, mine, there), doubted(interpod.examine, mine, there)) == (kept_out, [])
    unread = replace(there, gaps=(Gap("priorityclasses", "forbidden", "may not be read"),))
    mine, _ = admit(pod(fields=made(label)), "team", unread)
    assert (refused(interpod.examine, mine, unread), doubted(interpod.examine, mine, unread)) == ([], ["a1", "a2"])
