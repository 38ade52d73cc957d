"""LimitRange: defaults and refusals (capacity.md 1.7, 1.3)."""

import pytest

from advisor.cluster import LimitRange, LimitRangeItem
from advisor.fit import limits
from advisor.fit.admission import admit
from advisor.workload import Container, PodTemplate
from tests.builders import (
    GPU,
    TEAM,
    Amount,
    cluster,
    container,
    level,
    limit_range,
    per_container,
    per_pod,
    pod,
    role,
    runtime_class,
    thousandths,
    workload,
)


@pytest.mark.parametrize(
    ("item", "before", "requests", "limited"),
    [
        (per_container(default={"cpu": 2}, default_request={"cpu": 1}), container(), {"cpu": 1}, {"cpu": 2}),
        (per_container(default={"cpu": 2}), container(), {"cpu": 2}, {"cpu": 2}),  # a request is the limit
        (per_container(most={"cpu": 4}), container(), {"cpu": 4}, {"cpu": 4}),  # the limit is the maximum
        (per_container(least={"cpu": 1}), container(), {"cpu": 1}, {}),  # the request is the minimum
        (per_container(least={"cpu": 1}, most={"cpu": 4}), container(), {"cpu": 4}, {"cpu": 4}),
        (per_container(least={"cpu": 1}, default={"cpu": 2}, most={"cpu": 4}), container(), {"cpu": 2}, {"cpu": 2}),
        (per_container(default={"cpu": 2}), container(cpu=1), {"cpu": 1}, {"cpu": 2}),
        (per_container(default={"cpu": 2}), container(limits={"cpu": 3}), {"cpu": 3}, {"cpu": 3}),
        (per_container(default_request={"cpu": 1}), container(limits={"cpu": 3}), {"cpu": 3}, {"cpu": 3}),
        (per_container(default={GPU: 1}), container(cpu=1), {"cpu": 1, GPU: 1}, {GPU: 1}),  # devices too
        (per_container(default={"cpu": 2}), container(cpu=0), {"cpu": 0}, {"cpu": 2}),  # zero is stated
        (per_pod(most={"cpu": 4}), container(), {}, {}),  # bounds of a pod give no defaults
    ],
)
def test_1_7_what_a_container_leaves_open(
    item: LimitRangeItem, before: Container, requests: dict[str, int], limited: dict[str, int]
) -> None:
    found = limits.defaulted(before.with_requests(), [limit_range("r", item)])
    assert (found.requests, found.limits) == (thousandths(requests), thousandths(limited))


def test_1_7_of_several_items_the_last_and_of_several_objects_the_first_wins() -> None:
    one = limit_range("a", per_container(default={"cpu": 1, "memory": 1}), per_container(default={"cpu": 2}))
    two = limit_range("b", per_container(default={"cpu": 9, GPU: 9}))
    found = limits.defaulted(container(), [one, two])
    assert found.limits == thousandths({"cpu": 2, "memory": 1, GPU: 9})


def test_1_7_init_containers_and_sidecars_get_defaults_too() -> None:
    ranges = [limit_range("r", per_container(default_request={"cpu": 3}))]
    template = pod(container(cpu=1), inits=[container("init"), container("side", sidecar=True)])
    shape, _ = admit(template, TEAM, cluster(limit_ranges=ranges))
    assert shape.requests["cpu"] == 4000  # main 1 + sidecar 3, and 3 for the init container before it


def test_1_7_only_the_ranges_of_the_pods_namespace_count() -> None:
    ranges = [limit_range("r", per_container(default={"cpu": 3}, most={"cpu": 3}), namespace="red")]
    shape, refused = admit(pod(cpu=9), TEAM, cluster(limit_ranges=ranges))
    assert (shape.requests["cpu"], refused) == (9000, [])


@pytest.mark.parametrize(
    ("item", "template", "broken"),
    [
        (per_container(least={"cpu": 1}), pod(cpu=1), ""),
        (per_container(least={"cpu": 1}), pod(cpu="999m"), "container main asks for less cpu than the minimum"),
        (per_container(least={"cpu": 1}), pod(cpu=1, limits={"cpu": 1}), ""),
        (per_container(most={"cpu": 4}), pod(cpu=4), ""),  # the limit is given by the range
        (per_container(most={"cpu": 4}), pod(cpu=5), "container main asks for more cpu than the maximum"),
        (per_container(most={"cpu": 4}), pod(cpu=1, limits={"cpu": 5}), "container main asks for more cpu than"),
        (per_container(most={"cpu": 4}), pod(container(cpu=1), inits=[container("i", cpu=5)]), "container i asks for"),
        (per_container(most={GPU: 4}), pod(gpu=8), f"container main asks for more {GPU} than the maximum"),
        (per_container(ratio={"cpu": 2}), pod(cpu=1, limits={"cpu": 2}), ""),
        (
            per_container(ratio={"cpu": 2}),
            pod(cpu=1, limits={"cpu": "2001m"}),
            "larger ratio of limit to request",
        ),
        (per_container(ratio={"cpu": "1.5"}), pod(cpu=2, limits={"cpu": 3}), ""),
        (per_container(ratio={"cpu": 2}), pod(cpu=1), "needs a request and a limit of cpu"),
        (per_container(ratio={"cpu": 2}), pod(cpu=0, limits={"cpu": 2}), "needs a request and a limit of cpu"),
        (per_pod(least={"cpu": 3}), pod(container(cpu=2), container("b", cpu=1)), ""),
        (per_pod(least={"cpu": 3}), pod(container(cpu=2)), "the pod asks for less cpu than the minimum"),
        (per_pod(least={"cpu": 3}), pod(container(memory=1)), "the pod must request cpu"),
        (per_pod(most={"cpu": 3}), pod(container(cpu=1)), "the pod must limit cpu"),
        (per_pod(most={"cpu": 3}), pod(cpu=2, limits={"cpu": 3}), ""),
        (
            per_pod(most={"cpu": 3}),
            pod(container(cpu=1, limits={"cpu": 2}), container("b", limits={"cpu": 2})),
            "the pod",
        ),
        (per_pod(most={"cpu": 3}), pod(container(limits={"cpu": 3}), inits=[container("i", limits={"cpu": 3})]), ""),
        (per_pod(most={"cpu": 3}), pod(cpu=1, pod_level=level(limits={"cpu": 3})), ""),
        (per_pod(most={"cpu": 3}), pod(cpu=1, pod_level=level(limits={"cpu": 4})), "the pod asks for more cpu"),
        (LimitRangeItem("PersistentVolumeClaim", maximum={"storage": 1}), pod(cpu=1), ""),
    ],
)
def test_1_7_bounds(item: LimitRangeItem, template: PodTemplate, broken: str) -> None:
    _, refused = admit(template, TEAM, cluster(limit_ranges=[limit_range("r", item)]))
    found = [reason for reason in refused if reason.code == "limitrange"]
    assert len(found) == bool(broken)
    assert all(reason.lasting and reason.subject.startswith("r: ") and broken in reason.subject for reason in found)


def test_1_7_overhead_and_pod_level_hugepages_are_not_looked_at() -> None:
    huge: dict[str, Amount] = {"hugepages-2Mi": "8Mi", "cpu": 1}
    here = cluster(
        limit_ranges=[limit_range("r", per_pod(most={"cpu": 1}), per_pod(most={"hugepages-2Mi": 0}))],
        runtime_classes=[runtime_class("kata", cpu=1)],
    )
    plain = pod(cpu=1, limits={"cpu": 1, "hugepages-2Mi": 0}, fields={"runtime_class": "kata"})
    assert admit(plain, TEAM, here)[1] == []
    raised = pod(cpu=1, limits={"cpu": 1, "hugepages-2Mi": 0}, pod_level=level(huge, huge))
    assert admit(raised, TEAM, here)[1] == []


SMALL = limit_range("a", per_container(default_request={"cpu": 1}))
LARGE = limit_range("b", per_container(default_request={"cpu": 8}))
MIDDLE = limit_range("c", per_container(default_request={"cpu": 1}))


@pytest.mark.parametrize(
    ("ranges", "template", "doubtful"),
    [
        ([SMALL, LARGE], pod(memory=1), True),
        ([SMALL, LARGE, MIDDLE], pod(memory=1), True),  # it is not the one in the middle that wins
        ([SMALL, LARGE], pod(cpu=1), False),
        ([SMALL, LARGE], pod(limits={"cpu": 1}), False),
        ([SMALL, MIDDLE], pod(memory=1), False),
        ([SMALL], pod(memory=1), False),
        ([SMALL, LARGE], pod(container(cpu=1), inits=[container("i")]), True),
    ],
)
def test_1_7_ranges_that_disagree_are_a_doubt(ranges: list[LimitRange], template: PodTemplate, doubtful: bool) -> None:
    here = cluster(limit_ranges=ranges)
    doubts = list(limits.doubts(workload(role(template=template)), here))
    assert [doubt.restricts for doubt in doubts] == ([False] if doubtful else [])
    assert not list(limits.doubts(workload(role(replicas=0, template=template)), here))
