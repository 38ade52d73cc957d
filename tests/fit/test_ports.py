"""NodePorts (capacity.md 4.5, 2.3)."""

import pytest

from advisor.fit import examine, ports
from advisor.labels import HostPort
from advisor.workload import PodTemplate, Role
from tests.builders import bound, cluster, container, gpus, node, nominated, pod, port, role, shape, workload
from tests.fit.asking import doubted, refused, told


def wanting(*wanted: HostPort, priority: int = 0, scheduler: str = "default-scheduler") -> dict[str, object]:
    return {"ports": wanted, "priority": priority, "scheduler": scheduler}


HERE = cluster(
    [node("free"), node("taken"), node("standing")],
    [bound(on="taken", ports=[port(29500)]), bound(on="standing", ports=[port(9100, ip="10.0.0.1")], standing=True)],
)


@pytest.mark.parametrize(
    ("wanted", "stopped"),
    [
        ([], {}),
        ([port(29501)], {}),
        ([port(29500, "UDP")], {}),
        ([port(29500)], {"host-port 29500/TCP": ["taken"]}),
        ([port(29500, ip="10.0.0.1")], {"host-port 10.0.0.1:29500/TCP": ["taken"]}),
        ([port(9100)], {"host-port! 9100/TCP": ["standing"]}),  # a DaemonSet will be there for ever
        ([port(9100, ip="10.0.0.2")], {}),
        ([port(29500), port(9100)], {"host-port 29500/TCP": ["taken"], "host-port! 9100/TCP": ["standing"]}),
    ],
)
def test_4_5_ports_of_pods_that_are_there(wanted: list[HostPort], stopped: dict[str, list[str]]) -> None:
    assert told(ports.examine, shape(fields=wanting(*wanted)), HERE) == stopped


@pytest.mark.parametrize(
    ("ahead", "mine", "held"),
    [(5, 5, True), (6, 5, True), (4, 5, False)],
)
def test_2_3_ports_of_nominated_pods_of_no_lower_priority(ahead: int, mine: int, held: bool) -> None:
    here = cluster([node("a"), node("b")], nominated=[nominated("a", priority=ahead, ports=[port(29500)])])
    pod_ = shape(fields=wanting(port(29500), priority=mine))
    assert told(ports.examine, pod_, here) == ({"host-port 29500/TCP": ["a"]} if held else {})


def test_2_3_another_scheduler_does_not_honour_them() -> None:
    here = cluster([node("a")], nominated=[nominated("a", ports=[port(29500)])])
    pod_ = shape(fields=wanting(port(29500), scheduler="volcano"))
    assert refused(ports.examine, pod_, here) == []


def test_2_3_where_priorities_could_not_be_read_a_held_port_is_a_doubt() -> None:
    here = cluster([node("a")], nominated=[nominated("a", priority=-5, ports=[port(29500)])], gaps=["priorityclasses"])
    assert doubted(ports.examine, shape(fields=wanting(port(29500))), here) == ["a"]


@pytest.mark.parametrize(
    ("template", "used"),
    [
        (pod(ports=[port(80)]), [port(80)]),
        (pod(container(), inits=[container("side", ports=[port(81)], sidecar=True)]), [port(81)]),
        (pod(container(), inits=[container("init", ports=[port(82)])]), []),  # is over before the others start
        (pod(container("a", ports=[port(80)]), container("b", ports=[port(80, "UDP")])), [port(80), port(80, "UDP")]),
    ],
)
def test_4_5_which_containers_ports_count(template: PodTemplate, used: list[HostPort]) -> None:
    (found,) = examine(workload(role(template=template)), cluster([node("a")]), gpus()).roles
    assert list(found.shape.ports) == used


@pytest.mark.parametrize(
    ("roles", "apart"),
    [
        ([role("a", 1, ports=[port(80)])], []),
        ([role("a", 2, ports=[port(80)])], [("a", "a")]),
        ([role("a", 2), role("b", 2)], []),
        ([role("a", 1, ports=[port(80)]), role("b", 1, ports=[port(80)])], [("a", "b")]),
        ([role("a", 1, ports=[port(80)]), role("b", 1, ports=[port(81)])], []),
        ([role("a", 1, ports=[port(80)]), role("b", 0, ports=[port(80)])], []),
    ],
)
def test_4_5_pods_of_one_gang_with_one_port_need_a_node_each(roles: list[Role], apart: list[tuple[str, str]]) -> None:
    found = examine(workload(*roles), cluster([node("a")]), gpus()).apart
    assert [(rule.roles, rule.key, rule.code) for rule in found] == [(pair, "", "host-port") for pair in apart]
