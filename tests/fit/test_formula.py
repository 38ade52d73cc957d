"""What one pod asks of a node (capacity.md 1.1, 1.11-1.13), and the cases of the corpus that turn on it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.fit.admission import admit
from advisor.quantity import parse
from advisor.resources import (
    MOST,
    PODS,
    Init,
    in_base_units,
    is_extended,
    is_native,
    may_be_pod_level,
    pod_sum,
    pod_total,
)
from tests.builders import GPU, TEAM, cluster, container, level, limit_range, node, per_container, pod, runtime_class

CPU = st.dictionaries(st.sampled_from(["cpu", "memory", GPU]), st.integers(0, 20), max_size=3)
INITS = st.lists(st.builds(Init, CPU, st.booleans()), max_size=4)


def cpu(amount: int) -> dict[str, int]:
    return {"cpu": amount * 1000}


def test_1_1_containers_add_up() -> None:
    assert pod_total([cpu(1), cpu(2), {"memory": 5000}]) == {"cpu": 3000, "memory": 5}


@pytest.mark.parametrize(
    ("main", "inits", "total"),
    [
        (2, [Init(cpu(4))], 4),  # an init container larger than the rest wins
        (2, [Init(cpu(1))], 2),
        (2, [Init(cpu(3)), Init(cpu(3))], 3),  # two of them never add up
        (2, [Init(cpu(1), sidecar=True)], 3),  # a sidecar keeps running beside the containers
        (2, [Init(cpu(4)), Init(cpu(1), sidecar=True)], 4),  # listed after it, it does not raise the peak
        (2, [Init(cpu(1), sidecar=True), Init(cpu(4))], 5),  # listed before it, it does
        (1, [Init(cpu(1), sidecar=True), Init(cpu(2), sidecar=True), Init(cpu(1))], 4),
        (0, [Init(cpu(2), sidecar=True), Init(cpu(3), sidecar=True)], 5),
    ],
)
def test_1_1_init_containers_and_sidecars(main: int, inits: list[Init], total: int) -> None:
    assert pod_total([cpu(main)], inits) == {"cpu": total * 1000}


def test_1_1_the_larger_side_wins_resource_by_resource() -> None:
    asked = pod_total([{"cpu": 1000, "memory": 9000}], [Init({"cpu": 4000, "memory": 1000})])
    assert asked == {"cpu": 4000, "memory": 9}


@pytest.mark.parametrize(("sidecar", "gpus"), [(False, 1), (True, 2)])
def test_1_1_devices_obey_the_same_formula(sidecar: bool, gpus: int) -> None:
    assert pod_total([{GPU: 1000}], [Init({GPU: 1000}, sidecar)]) == {GPU: gpus}


def test_1_1_pod_level_replaces_the_sum_and_overhead_comes_on_top() -> None:
    containers = [{"cpu": 1000, "ephemeral-storage": 1000, GPU: 1000}]
    stated = {"cpu": 5000, "ephemeral-storage": 9000, GPU: 9000, "hugepages-2Mi": 4000}
    asked = pod_total(containers, pod_level=stated, overhead={"cpu": 250, "memory": 1000})
    assert asked == {"cpu": 5250, "memory": 1, "ephemeral-storage": 1, GPU: 1, "hugepages-2Mi": 4}


def test_1_9_the_sum_is_rounded_once_and_not_container_by_container() -> None:
    assert pod_total([{"memory": 400}, {"memory": 400}]) == {"memory": 1}


def test_a_name_that_is_stated_at_zero_is_known_but_not_asked_for() -> None:
    assert pod_sum([{"cpu": 0}]) == {"cpu": 0}
    assert pod_total([{"cpu": 0}]) == {}


@pytest.mark.parametrize(
    ("name", "native", "extended", "at_pod_level"),
    [
        ("cpu", True, False, True),
        ("memory", True, False, True),
        ("hugepages-1Gi", True, False, True),
        ("ephemeral-storage", True, False, False),
        ("nvidia.com/gpu", False, True, False),
        ("rdma/hca", False, True, False),
        ("kubernetes.io/batch-cpu", True, False, False),
        ("deviceclass.resource.kubernetes.io/h100", True, False, False),
        ("requests.nvidia.com/gpu", False, False, False),
    ],
)
def test_1_13_which_names_are_devices(name: str, native: bool, extended: bool, at_pod_level: bool) -> None:
    assert (is_native(name), is_extended(name), may_be_pod_level(name)) == (native, extended, at_pod_level)


def test_1_11_every_pod_takes_one_slot() -> None:
    shape, _ = admit(pod(cpu=0), TEAM, cluster())
    assert shape.requests == {PODS: 1}


def test_1_8_a_container_without_requests_asks_for_nothing() -> None:
    shape, refused = admit(pod(container("a"), container("b", cpu=1)), TEAM, cluster())
    assert shape.requests == {"cpu": 1000, PODS: 1}
    assert not refused


def test_corpus_05_init_requests_are_a_maximum() -> None:
    template = pod(
        container(cpu=2, memory="32Gi", gpu=2),
        inits=[container("fetch", cpu=4, memory="4Gi"), container("warmup", cpu=1, gpu=2)],
    )
    shape, _ = admit(template, TEAM, cluster())
    assert shape.requests == {"cpu": 4000, "memory": 32 * 2**30, GPU: 2, PODS: 1}


def test_corpus_06_the_order_of_sidecars_matters() -> None:
    template = pod(
        container(cpu=2, gpu=1),
        inits=[
            container("setup", cpu=2),
            container("proxy", cpu=1, sidecar=True),
            container("prefetch", cpu=3),
            container("logs", cpu=1, sidecar=True),
        ],
    )
    shape, _ = admit(template, TEAM, cluster())
    assert shape.requests["cpu"] == 4000


@pytest.mark.parametrize(("ranged", "cpus"), [(True, 4000), (False, 3000)])
def test_corpus_07_requests_come_from_the_limit_first_and_from_the_limitrange_second(ranged: bool, cpus: int) -> None:
    template = pod(container("train", limits={"cpu": 3, "memory": "8Gi", GPU: 1}), container("tail"))
    ranges = [limit_range("defaults", per_container(default={"cpu": 2}, default_request={"cpu": 1}))] if ranged else []
    shape, refused = admit(template, TEAM, cluster(limit_ranges=ranges))
    assert shape.requests == {"cpu": cpus, "memory": 8 * 2**30, GPU: 1, PODS: 1}
    assert not refused


def test_corpus_20_quantities_in_every_notation() -> None:
    memory = ["1.5Gi", "129e6", "128974848000m"]
    asked = pod_total([{"cpu": parse(c), "memory": parse(m)} for c, m in zip([0.5, "1500m", 2], memory, strict=True)])
    assert asked == {"cpu": 4000, "memory": 1868587584}


@given(st.lists(CPU, min_size=1, max_size=3), INITS, CPU)
def test_one_container_more_never_asks_for_less(
    containers: list[dict[str, int]], inits: list[Init], more: object
) -> None:
    assert isinstance(more, dict)
    less, all_ = pod_sum(containers, inits), pod_sum([*containers, more], inits)
    assert all(amount <= all_[name] for name, amount in less.items())


@given(st.lists(CPU, min_size=1, max_size=3), INITS)
def test_a_pod_asks_for_no_less_than_any_moment_of_its_life_needs(
    containers: list[dict[str, int]], inits: list[Init]
) -> None:
    asked = pod_sum(containers, inits)
    moments = [[init, *[one for one in inits[:n] if one.sidecar]] for n, init in enumerate(inits)]
    for moment in moments:
        for name in ("cpu", "memory", GPU):
            assert sum(init.amounts.get(name, 0) for init in moment) <= asked.get(name, 0)
    for name in ("cpu", "memory", GPU):
        running = [*containers, *(init.amounts for init in inits if init.sidecar)]
        assert sum(amounts.get(name, 0) for amounts in running) <= asked.get(name, 0)


def test_an_absurd_amount_stays_within_what_can_be_counted() -> None:
    assert pod_total([{"cpu": parse("1E"), "memory": parse("16Ei")}]) == {"cpu": MOST, "memory": MOST}
    assert pod_total([{"memory": parse("1Ei")}]) == {"memory": MOST}
    assert pod_total([{"memory": parse("512Pi")}]) == {"memory": MOST // 2}


@given(CPU)
def test_base_units_leave_out_what_comes_to_nothing(amounts: dict[str, int]) -> None:
    assert in_base_units(amounts).keys() == {name for name, amount in amounts.items() if amount}


@pytest.mark.parametrize(
    ("version", "limited", "cpus"),
    [
        ("v1.33.4", True, 1000),  # the field is dropped
        ("v1.34.0", True, 4000),  # the pod's limit, because no container asked for cpu then
        ("v1.36.2", True, 4000),
        ("v1.37.0", True, 1000),  # the containers' sum, which the LimitRange made
        ("v1.37.0", False, 1000),
        ("", True, 1000),
    ],
)
def test_1_3_pod_level_defaults_moved_after_the_limitrange(version: str, limited: bool, cpus: int) -> None:
    ranges = [limit_range("r", per_container(default_request={"cpu": 1}))]
    stated = level(limits={"cpu": 4, "memory": "8Gi"} if limited else {}, requests={} if limited else {"memory": "8Gi"})
    here = cluster([node("a")], version=version, limit_ranges=ranges)
    shape, refused = admit(pod(container(), pod_level=stated), TEAM, here)
    assert shape.requests["cpu"] == cpus
    assert not refused


@pytest.mark.parametrize(
    ("version", "limits"),
    [("v1.36.2", {"cpu": 4000}), ("v1.37.2", {"cpu": 8000})],
)
def test_1_5_a_pod_level_request_raises_the_limit_that_every_container_has(version: str, limits: object) -> None:
    template = pod(container("a", limits={"cpu": 2}), container("b", limits={"cpu": 2}), pod_level=level({"cpu": 8}))
    shape, refused = admit(template, TEAM, cluster(version=version))
    assert (shape.requests["cpu"], shape.limits) == (8000, limits)
    assert not refused


def test_1_5_without_a_limit_on_every_container_there_is_none_for_the_pod() -> None:
    template = pod(container("a", limits={"cpu": 2}), container("b", cpu=1), pod_level=level({"cpu": 8}))
    shape, _ = admit(template, TEAM, cluster())
    assert shape.limits == {"cpu": 2000}


def test_1_4_overhead_counts_with_pod_level_resources_too() -> None:
    here = cluster(runtime_classes=[runtime_class("kata", cpu="250m", memory="160Mi")])
    template = pod(cpu=1, pod_level=level({"cpu": 2}), fields={"runtime_class": "kata"})
    shape, _ = admit(template, TEAM, here)
    assert shape.requests == {"cpu": 2250, "memory": 160 * 2**20, PODS: 1}
