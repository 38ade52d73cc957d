"""NodeName and NodeAffinity (capacity.md 4.1, 4.4, 7.1, 7.8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.fit import affinity
from advisor.labels import NodeSelector, NodeTerm, Requirement
from tests.builders import cluster, node, on_nodes, shape, term, wants
from tests.fit.asking import refused, told

H100 = {"nvidia.com/gpu.product": "H100", "nvidia.com/gpu.memory": "81559"}
A100 = {"nvidia.com/gpu.product": "A100", "nvidia.com/gpu.memory": "40960"}
HERE = cluster([node("a100", labels=A100), node("cpu"), node("h100", labels=H100)])
PRODUCT = "nvidia.com/gpu.product"
MEMORY = "nvidia.com/gpu.memory"


def passes(nodes: NodeSelector) -> list[str]:
    stopped = refused(affinity.examine, shape(fields={"nodes": nodes}), HERE)
    return [name for name in HERE.nodes.names if name not in stopped]


@pytest.mark.parametrize(
    ("nodes", "left"),
    [
        (NodeSelector(), ["a100", "cpu", "h100"]),
        (on_nodes(pairs={PRODUCT: "H100"}), ["h100"]),
        (on_nodes(pairs={PRODUCT: "H100", MEMORY: "40960"}), []),  # all pairs
        (on_nodes(pairs={"absent": ""}), []),  # a missing label is not the empty one
        (on_nodes(term(f"{PRODUCT} in (H100, A100)")), ["a100", "h100"]),
        (on_nodes(term(f"{PRODUCT} not in (A100)")), ["cpu", "h100"]),
        (on_nodes(term(PRODUCT)), ["a100", "h100"]),
        (on_nodes(term(f"!{PRODUCT}")), ["cpu"]),
        (on_nodes(term(f"{MEMORY} > 40960")), ["h100"]),
        (on_nodes(term(f"{MEMORY} < 40961")), ["a100"]),
        (on_nodes(term(f"{PRODUCT} > 1")), []),  # no whole number
        (on_nodes(term(f"{PRODUCT}=H100"), term(f"!{PRODUCT}")), ["cpu", "h100"]),  # terms are alternatives
        (on_nodes(term(PRODUCT, f"{MEMORY} > 50000")), ["h100"]),  # expressions in one term are not
        (on_nodes(term(PRODUCT), pairs={PRODUCT: "A100"}), ["a100"]),  # pairs and a term
        (on_nodes(term()), []),  # a term without expressions matches nothing
        (on_nodes(term(), term("!absent")), ["a100", "cpu", "h100"]),
        (NodeSelector(terms=()), []),  # and so do no terms at all
        (on_nodes(term(fields=["metadata.name=cpu"])), ["cpu"]),
        (on_nodes(term(fields=["metadata.name not in (cpu)"])), ["a100", "h100"]),
        (on_nodes(term(f"{PRODUCT}=H100", fields=["metadata.name=cpu"])), []),
        (on_nodes(term(fields=["metadata.name in (a100, cpu)"])), []),  # one value only
        (on_nodes(term(fields=["metadata.name not in (a100, cpu)"])), []),
        (on_nodes(term(fields=["metadata.name"])), []),  # In and NotIn only
        (on_nodes(term(fields=["spec.unschedulable not in (true)"])), []),  # one field only
        (NodeSelector(terms=(NodeTerm((Requirement(MEMORY, "Gt", ("1", "2")),)),)), []),
    ],
)
def test_4_4_selectors(nodes: NodeSelector, left: list[str]) -> None:
    assert passes(nodes) == left


def test_4_4_each_pair_and_the_terms_are_told_by_themselves_and_last() -> None:
    nodes = on_nodes(term(f"{MEMORY} > 50000"), term("!gone"), pairs={PRODUCT: "H100"})
    assert told(affinity.examine, shape(fields={"nodes": nodes}), HERE) == {
        f"node-affinity! {PRODUCT}=H100": ["a100", "cpu"],
    }
    nodes = on_nodes(term(f"{MEMORY} > 50000"), term("gone"))
    assert told(affinity.examine, shape(fields={"nodes": nodes}), HERE) == {
        f"node-affinity! {MEMORY} > 50000 or gone": ["a100", "cpu"],
    }
    nodes = NodeSelector(terms=())
    assert list(told(affinity.examine, shape(fields={"nodes": nodes}), HERE)) == ["node-affinity! nothing (no terms)"]


@pytest.mark.parametrize(("name", "stopped"), [("", []), ("cpu", ["a100", "h100"]), ("gone", ["a100", "cpu", "h100"])])
def test_4_1_a_template_that_names_its_node(name: str, stopped: list[str]) -> None:
    assert refused(affinity.examine_name, shape(fields={"node_name": name}), HERE) == stopped


KEYS, VALUES = st.sampled_from("ab"), st.sampled_from(["1", "2"])
EXPRESSIONS = st.one_of(
    st.builds(Requirement, KEYS, st.sampled_from(["In", "NotIn", "Gt", "Lt"]), st.tuples(VALUES)),
    st.builds(Requirement, KEYS, st.sampled_from(["Exists", "DoesNotExist"])),
)
TERMS = st.lists(st.builds(NodeTerm, st.lists(EXPRESSIONS, max_size=2).map(tuple)), min_size=1, max_size=2).map(tuple)
LABELS = st.dictionaries(KEYS, VALUES)


@given(TERMS, st.lists(LABELS, min_size=1, max_size=3), VALUES)
def test_an_extra_label_on_a_node_never_changes_what_other_keys_say(
    terms: tuple[NodeTerm, ...], labelled: list[dict[str, str]], value: str
) -> None:
    pod = shape(fields={"nodes": NodeSelector(terms=terms)})
    plain = cluster([node(f"n{n}", labels=found) for n, found in enumerate(labelled)])
    more = cluster([node(f"n{n}", labels={**found, "c": value}) for n, found in enumerate(labelled)])
    assert refused(affinity.examine, pod, plain) == refused(affinity.examine, pod, more)


@given(TERMS, EXPRESSIONS, st.lists(LABELS, min_size=1, max_size=3))
def test_an_alternative_more_never_turns_down_more_nodes(
    terms: tuple[NodeTerm, ...], other: Requirement, labelled: list[dict[str, str]]
) -> None:
    here = cluster([node(f"n{n}", labels=found) for n, found in enumerate(labelled)])
    before = refused(affinity.examine, shape(fields={"nodes": NodeSelector(terms=terms)}), here)
    wider = NodeSelector(terms=(*terms, NodeTerm((other,))))
    assert set(refused(affinity.examine, shape(fields={"nodes": wider}), here)) <= set(before)


def test_the_keys_that_a_selector_looks_at() -> None:
    nodes = on_nodes(term("a", fields=["metadata.name=n1"]), NodeTerm((wants("b=1"),)), pairs={"c": "1"})
    assert nodes.keys == {"a", "b", "c"}
