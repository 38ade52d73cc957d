"""A placement charged to a snapshot, and the next question asked of what is left."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.assume import assume
from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import Diagnosis
from advisor.fit import examine
from advisor.labels import HOSTNAME
from advisor.verdict import Placement
from advisor.workload import Workload
from tests.builders import (
    GPU,
    against,
    bound,
    cluster,
    gpus,
    node,
    nodes,
    placement,
    port,
    quota,
    role,
    workload,
)
from tests.fit.asking import left


def charged(job: Workload, here: ClusterSnapshot, placed: Placement) -> ClusterSnapshot:
    found = examine(job, here, gpus())
    return assume(here, placed, {fit.role.name: fit.shape for fit in found.roles}, found.charges)


def open_nodes(found: Diagnosis, here: ClusterSnapshot) -> Mapping[str, list[str]]:
    return {fit.role.name: left(fit, here) for fit in found.roles}


def test_amounts_and_slots_are_taken_on_the_nodes_of_the_placement_and_nowhere_else() -> None:
    here = cluster(nodes(3, gpu=8), [bound(on="n0", gpu=2, cpu=1)])
    job = workload(role("head", cpu=1, memory="1Gi"), role("worker", 3, gpu=2))
    after = charged(job, here, placement(head={"n2": 1}, worker={"n0": 2, "n1": 1}))
    assert after.nodes.free(GPU).tolist() == [2, 6, 8]
    assert after.nodes.free("cpu").tolist() == [63_000, 64_000, 63_000]
    assert after.nodes.free("memory").tolist() == [512 * 2**30, 512 * 2**30, 511 * 2**30]
    assert after.nodes.free("pods").tolist() == [107, 109, 109]
    assert after.nodes.room(GPU).tolist() == [8, 8, 8]  # ordinary pods, which an emptied cluster would not have


def test_the_snapshot_that_was_charged_stays_as_it_was() -> None:
    here = cluster(nodes(1, gpu=8), [bound(on="n0", gpu=2)], quotas=[quota(hard={"pods": 9}, used={"pods": 1})])
    charged(workload(role(gpu=2, ports=[port(80)])), here, placement(worker={"n0": 1}))
    assert here.nodes.free(GPU).tolist() == [6]
    assert (len(here.pods), here.ports, here.quotas[0].used) == (1, (), {"pods": 1})


def test_what_was_promised_once_is_not_promised_again() -> None:
    here = cluster(nodes(2, gpu=8))
    job = workload(role("worker", 1, gpu=8))
    assert open_nodes(examine(job, here, gpus()), here) == {"worker": ["n0", "n1"]}
    after = charged(job, here, placement(worker={"n1": 1}))
    assert open_nodes(examine(job, after, gpus()), after) == {"worker": ["n0"]}
    (rejected,) = examine(job, after, gpus()).roles[0].rejections
    assert (rejected.reason.code, rejected.reason.lasting) == ("insufficient-gpu", False)


def test_host_ports_are_taken() -> None:
    job = workload(role("worker", 2, ports=[port(29500)]))
    after = charged(job, cluster(nodes(3)), placement(worker={"n0": 1, "n2": 1}))
    assert open_nodes(examine(job, after, gpus()), after) == {"worker": ["n1"]}


@pytest.mark.parametrize(("key", "open_"), [(HOSTNAME, ["b"]), ("zone", [])])
def test_anti_affinity_holds_in_both_directions(key: str, open_: list[str]) -> None:
    here = cluster([node("a", labels={"zone": "z"}), node("b", labels={"zone": "z"})])
    shy = workload(role("shy", labels={"app": "shy"}, anti_affinity=[against("app=loud", key=key)]))
    loud = workload(role("loud", labels={"app": "loud"}))
    for first, second in ((shy, loud), (loud, shy)):
        (name,) = (one.name for one in first.roles)
        after = charged(first, here, placement(**{name: {"a": 1}}))
        assert list(open_nodes(examine(second, after, gpus()), after).values()) == [open_]


def test_quotas_are_charged_for_pods_and_for_the_object() -> None:
    counted = quota(hard={"pods": 9, f"requests.{GPU}": 16, "count/jobs.batch": 2, "services": 5}, used={"pods": 1})
    here = cluster(nodes(1, gpu=8), quotas=[counted])
    after = charged(workload(role("worker", 2, gpu=4)), here, placement(worker={"n0": 2}))
    assert after.quotas[0].used == {"pods": 3, f"requests.{GPU}": 8, "count/jobs.batch": 1, "services": 0}
    charges = examine(workload(role(gpu=4)), after, gpus()).charges
    assert {charge.key: charge.left for charge in charges} == {"pods": 6, f"requests.{GPU}": 8, "count/jobs.batch": 1}


def test_a_smaller_placement_is_charged_by_its_own_size() -> None:
    here = cluster(nodes(1, gpu=8), quotas=[quota(hard={"pods": 9})])
    after = charged(workload(role("worker", 8, gpu=1, minimum=1)), here, placement(worker={"n0": 3}))
    assert (after.nodes.free(GPU).tolist(), after.quotas[0].used) == ([5], {"pods": 3})


def test_quotas_of_other_namespaces_and_such_that_are_not_counted_yet_stay_as_they_are() -> None:
    mine, red = quota(hard={"pods": 9}, uncounted=True), quota(hard={"pods": 9}, namespace="red")
    after = charged(workload(role()), cluster(nodes(1), quotas=[mine, red]), placement(worker={"n0": 1}))
    assert after.quotas == (mine, red)


def test_a_quota_of_the_same_name_elsewhere_is_not_mistaken_for_ours() -> None:
    mine, red = quota(hard={"pods": 9}), quota(hard={"pods": 9}, namespace="red")
    after = charged(workload(role()), cluster(nodes(1), quotas=[mine, red]), placement(worker={"n0": 1}))
    assert [found.used for found in after.quotas] == [{"pods": 1}, {"pods": 0}]


def test_a_resource_that_nobody_asked_for_yet() -> None:
    here = cluster([node("a", also={"rdma/hca": 4}), node("b", also={"rdma/hca": 4})])
    assert "rdma/hca" not in here.nodes.requested
    after = charged(workload(role(also={"rdma/hca": 1})), here, placement(worker={"b": 1}))
    assert after.nodes.free("rdma/hca").tolist() == [4, 3]


def test_an_empty_placement_changes_nothing_that_is_asked_about() -> None:
    here = cluster(nodes(2, gpu=8), quotas=[quota(hard={"pods": 9})])
    after = assume(here, Placement({}), {})
    assert (after.nodes.free(GPU).tolist(), after.pods, after.ports, after.quotas) == ([8, 8], (), (), here.quotas)


@given(st.lists(st.integers(0, 3), min_size=3, max_size=3), st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_two_placements_take_what_one_of_both_would(one: list[int], other: list[int]) -> None:
    here, job = cluster(nodes(3, gpu=8)), workload(role("worker", 18, gpu=1))

    def put(counts: list[int]) -> Placement:
        return placement(worker={f"n{n}": count for n, count in enumerate(counts) if count})

    twice = charged(job, charged(job, here, put(one)), put(other))
    once = charged(job, here, put([a + b for a, b in zip(one, other, strict=True)]))
    for name in (GPU, "pods"):
        assert twice.nodes.free(name).tolist() == once.nodes.free(name).tolist()


@given(st.integers(1, 3), st.integers(0, 2))
def test_charging_never_opens_a_node(count: int, where: int) -> None:
    here = cluster(nodes(3, gpu=4), [bound(on="n0", gpu=1)])
    job = workload(role("worker", 3, gpu=2, labels={"app": "a"}, ports=[port(80)], anti_affinity=[against("app=a")]))
    after = charged(job, here, placement(worker={f"n{where}": count}))
    before_open = set(open_nodes(examine(job, here, gpus()), here)["worker"])
    assert set(open_nodes(examine(job, after, gpus()), after)["worker"]) == before_open - {f"n{where}"}
