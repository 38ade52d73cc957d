"""NodeResourcesFit and the supply of each node (capacity.md 2.1, 2.3, 3, 6.8, 7.1-7.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cluster import ClusterSnapshot
from advisor.fit import resources
from tests.builders import GPU, Bound, bound, cluster, node, nodes, nominated, shape
from tests.fit.asking import doubted, refused, told


@pytest.mark.parametrize(
    ("asked", "stopped"),
    [
        ({"gpu": 2}, {}),
        ({"gpu": 3}, {f"insufficient-gpu {GPU}": ["n0"]}),  # busy: it passes
        ({"gpu": 9}, {f"insufficient-gpu! {GPU}": ["n0"]}),  # too small: it lasts
        ({"cpu": 3, "gpu": 2}, {"insufficient-cpu cpu": ["n0"]}),
        ({"memory": "512Gi"}, {"insufficient-memory memory": ["n0"]}),
        ({"storage": 1}, {"no-such-resource! ephemeral-storage": ["n0"]}),
        ({}, {}),
    ],
)
def test_2_1_free_is_allocatable_less_what_pods_ask_for(asked: dict[str, int], stopped: dict[str, list[str]]) -> None:
    here = cluster(nodes(1, gpu=8, cpu=8), [bound(on="n0", gpu=6, cpu=5.5, memory=1)])
    assert told(resources.examine, shape(also=asked), here) == stopped


def test_2_1_exactly_as_much_as_is_free_fits() -> None:
    here = cluster([node("a", cpu="100m", memory=10)], [bound(on="a", cpu="1m", memory=3)])
    assert refused(resources.examine, shape(cpu="99m", memory=7), here) == []
    assert refused(resources.examine, shape(cpu="100m"), here) == ["a"]
    assert refused(resources.examine, shape(memory=8), here) == ["a"]


def test_2_1_negative_free_hinders_only_pods_that_ask_for_it() -> None:
    here = cluster([node("n1", cpu=64, gpu=5)], [bound(on="n1", gpu=6, cpu=10)])
    assert refused(resources.examine, shape(cpu=8), here) == []
    assert told(resources.examine, shape(gpu=1), here) == {f"insufficient-gpu {GPU}": ["n1"]}
    assert resources.supply([shape(gpu=1)], here).now[GPU].tolist() == [0]


@pytest.mark.parametrize(("slots", "pods", "stopped"), [(2, 1, []), (2, 2, ["a"]), (0, 0, ["a"])])
def test_1_11_every_pod_needs_a_slot(slots: int, pods: int, stopped: list[str]) -> None:
    here = cluster([node("a", pods=slots)], [bound(on="a", count=pods)] if pods else [])
    assert refused(resources.examine, shape(), here) == stopped


def test_2_8_a_node_without_slots_takes_no_pod() -> None:
    here = cluster([node("a", pods=0), node("b")])
    assert told(resources.examine, shape(), here) == {"insufficient-pods! pods": ["a"]}


def test_1_12_hugepages_are_resources_of_their_own() -> None:
    here = cluster([node("a", also={"hugepages-2Mi": "4Mi"}), node("b", also={"hugepages-1Gi": "4Gi"})])
    assert refused(resources.examine, shape(also={"hugepages-2Mi": "4Mi"}), here) == ["b"]


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"),
        ("nvidia.com/gpu", "nvidia.com/gpu.shared"),
        ("amd.com/gpu", "nvidia.com/gpu"),
        ("aws.amazon.com/neuroncore", "aws.amazon.com/neurondevice"),
        ("rdma/hca", "rdma/hca_shared"),
    ],
)
def test_7_2_7_3_every_name_counts_for_itself(name: str, offered: str) -> None:
    here = cluster([node("a", also={offered: 8}), node("b", also={name: 1})])
    assert refused(resources.examine, shape(also={name: 1}), here) == ["a"]
    assert refused(resources.examine, shape(also={name: 2}), here) == ["a", "b"]


def test_7_1_labels_create_no_capacity() -> None:
    labelled = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": "8", "nvidia.com/gpu.product": "H100"}
    here = cluster([node("a", labels=labelled)])
    assert told(resources.examine, shape(gpu=1), here) == {f"no-such-resource! {GPU}": ["a"]}


def test_what_belongs_to_the_node_lasts() -> None:
    here = cluster(nodes(1, cpu=8), [bound(on="n0", cpu=6, standing=True), bound(on="n0", cpu=1)])
    assert told(resources.examine, shape(cpu=2), here) == {"insufficient-cpu cpu": ["n0"]}
    assert told(resources.examine, shape(cpu=3), here) == {"insufficient-cpu! cpu": ["n0"]}


@pytest.mark.parametrize(("ahead", "mine", "held"), [(5, 5, True), (6, 5, True), (4, 5, False), (0, -1, True)])
def test_2_3_room_is_held_for_nominated_pods_of_no_lower_priority(ahead: int, mine: int, held: bool) -> None:
    here = cluster(nodes(2, gpu=8), nominated=[nominated("n0", priority=ahead, gpu=4)])
    pod = shape(gpu=5, fields={"priority": mine})
    assert told(resources.examine, pod, here) == ({f"nominated {GPU}": ["n0"]} if held else {})
    assert resources.supply([pod], here).now[GPU].tolist() == ([4, 8] if held else [8, 8])


def test_2_3_a_nominated_pod_holds_its_slot_too() -> None:
    here = cluster([node("a", pods=1)], nominated=[nominated("a")])
    assert told(resources.examine, shape(), here) == {"nominated pods": ["a"]}


def test_2_3_a_scheduler_holds_room_for_its_own_pods_only() -> None:
    here = cluster(nodes(1, gpu=8), nominated=[nominated("n0", priority=9, gpu=8, scheduler="volcano")])
    assert refused(resources.examine, shape(gpu=8), here) == []
    assert refused(resources.examine, shape(gpu=8, fields={"scheduler": "volcano"}), here) == ["n0"]


def test_2_3_a_place_on_a_node_that_is_not_there_holds_nothing() -> None:
    here = cluster(nodes(1, gpu=8), nominated=[nominated("gone", gpu=8)])
    assert refused(resources.examine, shape(gpu=8), here) == []


def test_2_3_where_priorities_could_not_be_read_held_room_is_a_doubt() -> None:
    here = cluster(nodes(1, gpu=8), nominated=[nominated("n0", priority=-9, gpu=4)], gaps=["priorityclasses"])
    assert doubted(resources.examine, shape(gpu=5), here) == ["n0"]
    found = resources.supply([shape(gpu=5)], here)
    assert (found.now[GPU].tolist(), found.hopeful[GPU].tolist()) == ([4], [8])


def test_2_3_a_gang_of_several_priorities() -> None:
    here = cluster(nodes(1, gpu=8), nominated=[nominated("n0", priority=5, gpu=3)])
    high, low = shape(gpu=1, fields={"priority": 9}), shape(gpu=1, fields={"priority": 1})
    found = resources.supply([high, low], here)
    assert (found.now[GPU].tolist(), found.hopeful[GPU].tolist()) == ([5], [8])
    assert (found.now["pods"].tolist(), found.hopeful["pods"].tolist()) == ([109], [110])
    both_low = resources.supply([low, low], here)
    assert (both_low.now[GPU].tolist(), both_low.hopeful[GPU].tolist()) == ([5], [5])


def test_the_supply_of_an_emptied_cluster_keeps_what_belongs_to_nodes() -> None:
    here = cluster(nodes(1, cpu=8), [bound(on="n0", cpu=1, standing=True), bound(on="n0", cpu=6)])
    found = resources.supply([shape(cpu=1)], here)
    assert (found.now["cpu"].tolist(), found.emptied["cpu"].tolist()) == ([1000], [7000])
    assert sorted(found.now) == ["cpu", "pods"]


def test_no_supply_is_ever_negative() -> None:
    pods = [bound(on="n0", gpu=6), bound(on="n0", cpu=9, standing=True)]
    here = cluster(nodes(1, gpu=5, cpu=8), pods, nominated=[nominated("n0", gpu=3)])
    found = resources.supply([shape(gpu=1, cpu=1)], here)
    for amounts in (found.now, found.hopeful):
        assert (amounts[GPU].tolist(), amounts["cpu"].tolist()) == ([0], [0])
    assert (found.emptied[GPU].tolist(), found.emptied["cpu"].tolist()) == ([5], [0])


DRA = frozenset({GPU})


def test_6_8_a_node_that_may_serve_a_device_through_dra_is_not_without_it() -> None:
    here = cluster([node("dra"), node("plugin", gpu=1), node("zero", gpu=0)], served_by_dra=DRA)
    assert told(resources.examine, shape(gpu=1), here) == {f"dra-served? {GPU}": ["dra", "zero"]}
    assert told(resources.examine, shape(gpu=2), here) == {
        f"dra-served? {GPU}": ["dra", "zero"],
        f"insufficient-gpu! {GPU}": ["plugin"],  # above zero the plugin's count alone decides
    }
    supply = resources.supply([shape(gpu=2)], here)
    assert supply.now[GPU].tolist() == [0, 1, 0]
    assert supply.hopeful[GPU].tolist() == [resources.PLENTY, 1, resources.PLENTY]


@pytest.mark.parametrize(
    ("version", "asked", "unsure"),
    [("", GPU, ["a"]), ("v1.36.0", GPU, ["a"]), ("v1.35.9", GPU, []), ("v1.37.2", "cpu", [])],
)
def test_6_8_where_deviceclasses_could_not_be_read_any_device_may_be_served(
    version: str, asked: str, unsure: list[str]
) -> None:
    here = cluster([node("a"), node("b", gpu=1)], version=version, gaps=["deviceclasses"])
    assert doubted(resources.examine, shape(also={asked: 1}), here) == unsure
    if unsure:
        assert list(told(resources.examine, shape(also={asked: 1}), here)) == ["unreadable? deviceclasses"]


SIZES = st.integers(0, 4)


def a_cluster(sizes: list[int], pods: list[tuple[int, int]]) -> ClusterSnapshot:
    on: list[Bound] = [bound(on=f"n{where % len(sizes)}", gpu=gpu) for where, gpu in pods]
    return cluster([node(f"n{n}", gpu=size, pods=3) for n, size in enumerate(sizes)], on)


BOUND = st.lists(st.tuples(SIZES, SIZES), max_size=4)


@given(st.lists(SIZES, min_size=1, max_size=3), BOUND, st.tuples(SIZES, SIZES), SIZES)
def test_taking_a_pod_away_never_turns_down_more_nodes(
    sizes: list[int], pods: list[tuple[int, int]], more: tuple[int, int], asked: int
) -> None:
    fewer = set(refused(resources.examine, shape(gpu=asked), a_cluster(sizes, pods)))
    assert fewer <= set(refused(resources.examine, shape(gpu=asked), a_cluster(sizes, [*pods, more])))


@given(st.lists(SIZES, min_size=1, max_size=3), BOUND, SIZES)
def test_a_node_is_turned_down_exactly_where_the_supply_is_too_small(
    sizes: list[int], pods: list[tuple[int, int]], asked: int
) -> None:
    here, pod = a_cluster(sizes, pods), shape(gpu=asked)
    now = resources.supply([pod], here).now
    rows = {row for name, need in pod.requests.items() for row, amount in enumerate(now[name]) if amount < need}
    assert refused(resources.examine, pod, here) == sorted(here.nodes.names[row] for row in rows)
