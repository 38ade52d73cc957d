"""Signs on nodes that change what a count of devices means (capacity.md 7.2, 7.6)."""

import pytest

from advisor.accelerators import ONE_PER_CONTAINER, RECONFIGURING, SPLIT, TIME_SLICED, Mark
from advisor.cluster import ClusterSnapshot
from advisor.fit import devices, examine
from advisor.workload import GangGroup, Role
from tests.builders import GPU, cluster, container, gang, gpus, node, pod, role, shape, workload
from tests.fit.asking import told


def marked(means: str, resource: str = GPU) -> ClusterSnapshot:
    return cluster([node("plain", gpu=8), node("sign", gpu=8, marks=[Mark(resource, means)])])


@pytest.mark.parametrize(
    ("gpus_", "many", "stopped"), [(1, False, {}), (2, False, {"shared-gpu!": 1}), (1, True, {"shared-gpu!": 1})]
)
def test_7_2_time_slices_are_not_whole_devices(gpus_: int, many: bool, stopped: dict[str, int]) -> None:
    found = told(devices.examine, shape(gpu=gpus_, fields={"one_of_many": many}), marked(TIME_SLICED))
    assert found == {f"{code} {GPU}": ["sign"] for code in stopped}


@pytest.mark.parametrize(("most", "stopped"), [(1, {}), (2, {f"gpu-sharing-limit! {GPU}": ["sign"]})])
def test_7_2_shared_devices_serve_one_to_a_container(most: int, stopped: dict[str, list[str]]) -> None:
    pod_ = shape(gpu=2, fields={"most_per_container": {GPU: most}})
    assert told(devices.examine, pod_, marked(ONE_PER_CONTAINER)) == stopped
    assert all((r.reason.needs, r.reason.has) == (2, 1) for r in devices.examine(pod_, marked(ONE_PER_CONTAINER)))


def test_7_2_a_node_whose_layout_changes_is_left_alone_until_it_is_done() -> None:
    here = marked(RECONFIGURING, "nvidia.com/*")
    assert told(devices.examine, shape(gpu=1), here) == {f"gpu-reconfiguring {GPU}": ["sign"]}
    assert told(devices.examine, shape(also={"nvidia.com/mig-1g.10gb": 1}), here) == {
        "gpu-reconfiguring nvidia.com/mig-1g.10gb": ["sign"]
    }
    assert told(devices.examine, shape(also={"amd.com/gpu": 1}), here) == {}


def test_7_6_a_count_that_another_system_splits_is_a_doubt() -> None:
    assert told(devices.examine, shape(gpu=1), marked(SPLIT)) == {f"hami-split? {GPU}": ["sign"]}


@pytest.mark.parametrize("means", [TIME_SLICED, ONE_PER_CONTAINER, RECONFIGURING, SPLIT])
def test_a_pod_that_asks_for_none_does_not_care(means: str) -> None:
    assert told(devices.examine, shape(cpu=4, fields={"one_of_many": True}), marked(means)) == {}


@pytest.mark.parametrize(
    ("roles", "groups", "many"),
    [
        ([role("worker", 2, gpu=1)], [gang(1, worker=2)], {"worker"}),
        ([role("worker", 1, gpu=1)], [gang(1, worker=1)], set()),
        ([role("worker", 4, gpu=1)], [gang(4, worker=1)], set()),  # four gangs of one
        ([role("worker", 4, gpu=1)], [], set()),  # replicas that do not need one another
        ([role("a", 1, gpu=1), role("b", 1, gpu=1)], [gang(1, a=1, b=1)], {"a", "b"}),
        ([role("a", 1, gpu=1), role("head", 1)], [gang(1, a=1, head=1)], set()),
        ([role("a", 2, gpu=1), role("head", 1)], [gang(1, a=2, head=1)], {"a"}),
    ],
)
def test_7_2_whose_gang_holds_more_than_one_device(roles: list[Role], groups: list[GangGroup], many: set[str]) -> None:
    found = examine(workload(*roles, groups=groups), cluster([node("a")]), gpus()).roles
    assert {fit.role.name for fit in found if fit.shape.one_of_many} == many


def test_7_2_the_most_of_one_container_and_not_of_the_pod() -> None:
    template = pod(container("a", gpu=1), container("b", gpu=1), inits=[container("c", gpu=3, cpu=2)])
    (found,) = examine(workload(role(template=template)), cluster([node("a")]), gpus()).roles
    assert found.shape.most_per_container == {GPU: 3}
