"""The algebra of labels (capacity.md 4.3, 4.4, 4.5, 5.1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.labels import (
    HostPort,
    Labels,
    NodeTerm,
    PodAffinityTerm,
    Requirement,
    Selector,
    Taint,
    Toleration,
    labels,
)
from tests.builders import equal, exists, noexecute, noschedule, port, prefer_not, selector, term, wants


@pytest.mark.parametrize(
    ("text", "present", "other", "missing"),
    [
        ("pool in (a, b)", True, False, False),
        ("pool not in (a, b)", False, True, True),
        ("pool", True, True, False),
        ("!pool", False, False, True),
    ],
)
def test_4_4_operators(text: str, present: bool, other: bool, missing: bool) -> None:
    wanted = wants(text)
    assert (wanted.accepts("a"), wanted.accepts("c"), wanted.accepts(None)) == (present, other, missing)


@pytest.mark.parametrize(
    ("text", "value", "accepted"),
    [
        ("memory > 40000", "81920", True),
        ("memory > 40000", "40000", False),
        ("memory < 40000", "39999", True),
        ("memory < 40000", "40000", False),
        ("memory < 0", "-1", True),
        ("memory > 4", "+5", True),
        ("memory > 4", "007", True),
        ("memory > 4", None, False),
        ("memory < 4", None, False),
        ("memory > 4", "", False),
        ("memory > 4", "5.0", False),
        ("memory > 4", "5k", False),
        ("memory > 4", "١٠", False),
        ("memory > 4", "-+5", False),
        ("memory > 4", "1_0", False),
        ("memory > 4", "9223372036854775807", True),
        ("memory > 4", "9223372036854775808", False),  # not within 64 bits
        ("memory < 4", "-9223372036854775808", True),
        ("memory < 4", "-9223372036854775809", False),
        ("memory > 4", "9" * 5000, False),
        ("memory > four", "5", False),
        ("memory > 4.5", "5", False),
        ("memory > ", "5", False),
    ],
)
def test_4_4_gt_and_lt_compare_whole_numbers(text: str, value: str | None, accepted: bool) -> None:
    assert wants(text).accepts(value) is accepted


@pytest.mark.parametrize("values", [(), ("1", "2")])
def test_4_4_gt_with_other_than_one_value_matches_nothing(values: tuple[str, ...]) -> None:
    assert not Requirement("memory", "Gt", values).accepts("5")
    assert not Requirement("memory", "Lt", values).accepts("0")


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (wants("a=b"), "a=b"),
        (wants("a in (c, b)"), "a in (b, c)"),
        (wants("a not in (b)"), "a not in (b)"),
        (wants("a"), "a"),
        (wants("!a"), "!a"),
        (wants("a > 4"), "a > 4"),
        (wants("a < 4"), "a < 4"),
        (selector(), "everything"),
        (selector("a", "!b"), "a,!b"),
        (term("a", fields=["metadata.name=n1"]), "a and metadata.name=n1"),
        (NodeTerm(), "nothing (an empty term)"),
        (noschedule("gpu"), "gpu:NoSchedule"),
        (noexecute("gpu", "a100"), "gpu=a100:NoExecute"),
        (PodAffinityTerm("zone", selector("app=a"), ("team",)), "zone against app=a"),
        (PodAffinityTerm("zone", None, ("team",)), "zone against nothing"),
        (port(80), "80/TCP"),
        (port(80, "UDP", "10.0.0.1"), "10.0.0.1:80/UDP"),
    ],
)
def test_in_words(wanted: object, text: str) -> None:
    assert str(wanted) == text


@pytest.mark.parametrize(
    ("toleration", "taint", "tolerated"),
    [
        (exists(), noschedule("gpu", "a100"), True),  # no key with Exists tolerates everything
        (exists(), noexecute("gpu"), True),
        (exists(effect="NoSchedule"), noexecute("gpu"), False),
        (exists("gpu"), noschedule("gpu", "a100"), True),
        (exists("gpu"), noschedule("cpu"), False),
        (exists("gpu", "NoExecute"), noschedule("gpu"), False),
        (exists("gpu", "NoExecute"), noexecute("gpu"), True),
        (Toleration("gpu", "Exists", "h100"), noschedule("gpu", "a100"), True),  # the value is not looked at
        (equal("gpu", "h100"), noschedule("gpu", "h100"), True),
        (equal("gpu", "h100"), noschedule("gpu", "a100"), False),
        (equal("gpu", "h100"), noschedule("gpu"), False),
        (equal("gpu"), noschedule("gpu"), True),  # no value is the empty one
        (equal("gpu"), noschedule("gpu", "h100"), False),
        (Toleration("gpu", "", "h100"), noschedule("gpu", "h100"), True),  # no operator is Equal
        (Toleration("", "Equal", "h100"), noschedule("gpu", "h100"), False),  # no key needs Exists
        (Toleration("", "", ""), noschedule("gpu"), False),
        (Toleration("level", "Gt", "3"), noschedule("level", "5"), False),  # behind a gate that is off
        (Toleration("level", "Lt", "9"), noschedule("level", "5"), False),
        (exists("gpu", "NoExecute", seconds=30), noexecute("gpu"), True),  # borne for a while is borne
    ],
)
def test_4_3_tolerations(toleration: Toleration, taint: Taint, tolerated: bool) -> None:
    assert toleration.tolerates(taint) is tolerated


@pytest.mark.parametrize(
    ("taint", "repels"), [(noschedule("a"), True), (noexecute("a"), True), (prefer_not("a"), False)]
)
def test_4_3_which_effects_keep_pods_off(taint: Taint, repels: bool) -> None:
    assert taint.repels is repels


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        (port(80), port(80), True),
        (port(80), port(81), False),
        (port(80), port(80, "UDP"), False),
        (port(80, ip="10.0.0.1"), port(80, ip="10.0.0.2"), False),
        (port(80, ip="10.0.0.1"), port(80, ip="10.0.0.1"), True),
        (port(80), port(80, ip="10.0.0.1"), True),
        (port(80, ip="::"), port(80, ip="10.0.0.1"), False),  # only the IPv4 wildcard is one
        (port(80, ip="::"), port(80), True),
    ],
)
def test_4_5_host_ports(one: HostPort, other: HostPort, clash: bool) -> None:
    assert one.clashes(other) is clash
    assert other.clashes(one) is clash


KEYS = st.sampled_from("abc")
PAIRS = st.dictionaries(KEYS, st.sampled_from(["1", "2", "x"]), max_size=3)
WANTS = st.builds(
    Requirement, KEYS, st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]), st.just(("1",))
)


@given(st.lists(WANTS, max_size=3), PAIRS, WANTS)
def test_an_expression_more_never_matches_more(
    found: list[Requirement], pairs: dict[str, str], more: Requirement
) -> None:
    own: Labels = labels(pairs)
    assert not Selector((*found, more)).matches(own) or Selector(tuple(found)).matches(own)


@given(WANTS, PAIRS, st.sampled_from(["1", "2"]))
def test_a_label_that_is_not_asked_about_changes_nothing(
    wanted: Requirement, pairs: dict[str, str], value: str
) -> None:
    found = Selector((wanted,))
    assert found.matches(labels(pairs)) == found.matches(labels({**pairs, "unrelated": value}))


@given(KEYS, st.sampled_from([None, "1", "2"]))
def test_what_in_refuses_not_in_accepts(key: str, value: str | None) -> None:
    within, without = Requirement(key, "In", ("1",)), Requirement(key, "NotIn", ("1",))
    assert within.accepts(value) is not without.accepts(value)
