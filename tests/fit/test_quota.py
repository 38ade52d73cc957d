"""ResourceQuota (capacity.md 8)."""

from typing import Any

import pytest

from advisor.cluster import ClusterSnapshot, Quota, Scope
from advisor.diagnosis import Charge, PodShape
from advisor.fit import examine, quota
from advisor.resources import MOST
from advisor.workload import Container, PodAmounts, Role, Workload
from tests.builders import (
    GPU,
    bound,
    cluster,
    container,
    gpus,
    level,
    limit_range,
    node,
    per_container,
    pod,
    priority_class,
    role,
    runtime_class,
    shape,
    workload,
)
from tests.builders import quota as a_quota

TERMS = shape(
    cpu="1500m", memory="2Gi", storage="1Gi", gpu=2, also={"hugepages-2Mi": "4Mi"}, limits={"cpu": 3, "memory": 1}
)


@pytest.mark.parametrize(
    ("key", "charged"),
    [
        ("pods", 1),
        ("count/pods", 1),
        ("cpu", 1500),
        ("requests.cpu", 1500),
        ("limits.cpu", 3000),
        ("memory", 2 * 2**30),
        ("requests.memory", 2 * 2**30),
        ("limits.memory", 1),
        ("ephemeral-storage", 2**30),
        ("requests.ephemeral-storage", 2**30),
        ("limits.ephemeral-storage", 0),
        ("hugepages-2Mi", 4 * 2**20),
        ("requests.hugepages-2Mi", 4 * 2**20),
        ("hugepages-1Gi", 0),
        (f"requests.{GPU}", 2),
        (GPU, 0),  # only the requests form exists for devices
        (f"limits.{GPU}", 0),
        ("requests.amd.com/gpu", 0),
        ("requests.storage", 0),  # of claims
        ("requests.pods", 0),
        ("persistentvolumeclaims", 0),
        ("services", 0),
        ("count/jobs.batch", 0),
    ],
)
def test_8_2_what_a_pod_is_charged(key: str, charged: int) -> None:
    assert quota.amount(key, TERMS) == charged


def test_8_2_devices_that_are_asked_for_by_class() -> None:
    by_class = "deviceclass.resource.kubernetes.io/h100"
    assert quota.amount(f"requests.{by_class}", shape(also={by_class: 2})) == 2
    assert quota.amount("requests.kubernetes.io/batch", shape(also={"kubernetes.io/batch": 2})) == 0


def charges(job: Workload, *quotas: Quota, **facts: Any) -> tuple[Charge, ...]:
    return examine(job, cluster([node("a")], quotas=list(quotas), **facts), gpus()).charges


def test_8_1_left_is_the_ceiling_less_what_is_used_and_nothing_is_subtracted_twice() -> None:
    (found,) = charges(
        workload(role(replicas=4, gpu=2)), a_quota(hard={f"requests.{GPU}": 8}, used={f"requests.{GPU}": 3})
    )
    assert (found.hard, found.left, found.per_pod, found.fixed) == (8, 5, {"worker": 2}, 0)
    assert found.of({"worker": 4}) == 8


@pytest.mark.parametrize(("used", "left"), [(0, MOST), ("2E", -MOST), ("1P", MOST)])
def test_8_1_an_absurd_ceiling_stays_within_what_can_be_counted(used: str | int, left: int) -> None:
    (found,) = charges(workload(role(cpu=1)), a_quota(hard={"cpu": "1E"}, used={"cpu": used}))
    assert (found.hard, found.left) == (MOST, left)


def test_8_2_overhead_is_charged() -> None:
    job = workload(role(cpu=1, limits={"cpu": 1}, fields={"runtime_class": "kata"}))
    kata = [runtime_class("kata", cpu="250m")]
    found = charges(job, a_quota(hard={"requests.cpu": 9, "limits.cpu": 9}), runtime_classes=kata)
    assert [(charge.key, charge.per_pod["worker"]) for charge in found] == [
        ("limits.cpu", 1250),
        ("requests.cpu", 1250),
    ]


def test_8_5_every_role_is_charged_its_own_amount_and_roles_without_pods_nothing() -> None:
    job = workload(role("head", 1, cpu=1), role("worker", 4, cpu=2), role("idle", 0, cpu=64))
    (found,) = charges(job, a_quota(hard={"cpu": 8}))
    assert found.per_pod == {"head": 1000, "worker": 2000}
    assert found.of({"head": 1, "worker": 4}) == 9000


@pytest.mark.parametrize(
    ("kind", "api_version", "key", "fixed", "each"),
    [
        ("Job", "batch/v1", "count/jobs.batch", 1, 0),
        ("Job", "batch/v1", "count/cronjobs.batch", None, 0),
        ("JobSet", "jobset.x-k8s.io/v1alpha2", "count/jobsets.jobset.x-k8s.io", 1, 0),
        ("Service", "v1", "count/services", 1, 0),
        ("Pod", "v1", "count/pods", 0, 1),  # once, and not once more as the object
        ("Pod", "v1", "pods", 0, 1),
        ("RayCluster", "ray.io/v1", "count/rayclusters.ray.io", 1, 0),
        ("InferencePolicy", "x.io/v1", "count/inferencepolicies.x.io", 1, 0),
        ("Ingress", "x.io/v1", "count/ingresses.x.io", 1, 0),
    ],
)
def test_8_2_the_object_itself(kind: str, api_version: str, key: str, fixed: int | None, each: int) -> None:
    found = charges(workload(role(cpu=1), kind=kind, api_version=api_version), a_quota(hard={key: 9}))
    assert [(charge.fixed, charge.per_pod["worker"]) for charge in found] == ([] if fixed is None else [(fixed, each)])


JOB_NAME = "batch.kubernetes.io/job-name"


@pytest.mark.parametrize(
    ("labels", "there", "left", "fixed"),
    [
        ({JOB_NAME: "train"}, {JOB_NAME: "train", "pod": "a"}, 4, 0),
        ({JOB_NAME: "train"}, {JOB_NAME: "other"}, 2, 1),
        ({"app": "train"}, {"app": "train"}, 2, 1),  # people may give it to pods of anything
        ({"app.kubernetes.io/name": "train"}, {"app.kubernetes.io/name": "train"}, 2, 1),
    ],
)
def test_8_5_pods_of_the_workload_that_are_there_are_not_charged_again(
    labels: dict[str, str], there: dict[str, str], left: int, fixed: int
) -> None:
    job = workload(role("w", 3, cpu=1, labels=labels), name="train")
    keys = {"pods": 2, "count/jobs.batch": 1}
    counted = a_quota(hard={"pods": 4, "count/jobs.batch": 5}, used=keys)
    here = cluster([node("n1")], [bound(on="n1", count=2, labels=there)], quotas=[counted])
    found = {charge.key: charge for charge in quota.charges(job, {"w": shape(cpu=1, labels=labels)}, here)}
    object_itself = found.get("count/jobs.batch")
    assert (found["pods"].left, object_itself.fixed if object_itself else 0) == (left, fixed)


def test_8_3_a_scoped_quota_counts_no_objects_but_pods() -> None:
    assert charges(workload(role(cpu=1)), a_quota(hard={"count/jobs.batch": 1}, scopes=["NotTerminating"])) == ()


def test_quotas_of_other_namespaces_do_not_matter() -> None:
    assert charges(workload(role(cpu=1)), a_quota(hard={"cpu": 0}, namespace="red")) == ()


IN, NOT_IN = Scope("PriorityClass", "In", ("high",)), Scope("PriorityClass", "NotIn", ("high",))
ANY, NONE = Scope("PriorityClass"), Scope("PriorityClass", "DoesNotExist")
HIGH, LOW, NO_CLASS = ({"priority_class": name} for name in ("high", "low", ""))


@pytest.mark.parametrize(
    ("scopes", "fields", "counts"),
    [
        ([], {}, True),
        (["Terminating"], {"has_deadline": True}, True),
        (["Terminating"], {}, False),
        (["NotTerminating"], {"has_deadline": True}, False),
        (["NotTerminating"], {}, True),
        (["BestEffort"], {"best_effort": True}, True),
        (["BestEffort"], {}, False),
        (["NotBestEffort"], {"best_effort": True}, False),
        (["NotBestEffort"], {}, True),
        ([IN], HIGH, True),
        ([IN], LOW, False),
        ([IN], NO_CLASS, False),
        ([NOT_IN], HIGH, False),
        ([NOT_IN], LOW, True),
        ([NOT_IN], NO_CLASS, True),
        ([ANY], LOW, True),
        ([ANY], NO_CLASS, False),
        ([NONE], LOW, False),
        ([NONE], NO_CLASS, True),
        (["NotTerminating", IN], HIGH, True),  # every scope must match
        (["Terminating", IN], HIGH, False),
        (["CrossNamespacePodAffinity"], {}, False),
        (["CrossNamespacePodAffinity"], {"crosses_namespaces": True}, True),
        (["VolumeAttributesClass"], {}, False),
    ],
)
def test_8_3_scopes(scopes: list[Scope | str], fields: dict[str, Any], counts: bool) -> None:
    found = a_quota(hard={"pods": 1}, scopes=scopes)
    assert quota.applies(found.scopes, shape(fields=fields)) is counts


def stored(template: Container, pod_level: PodAmounts | None = None, **facts: Any) -> PodShape:
    job = workload(role(template=pod(template, pod_level=pod_level)))
    return examine(job, cluster([node("a")], **facts), gpus()).roles[0].shape


@pytest.mark.parametrize(
    ("found", "best_effort"),
    [
        (stored(container()), True),
        (stored(container(gpu=8)), True),  # devices do not count
        (stored(container(cpu=0)), True),
        (stored(container(cpu=1)), False),
        (stored(container(limits={"memory": 1})), False),
        (stored(container(gpu=8), limit_ranges=[limit_range("r", per_container(default={"cpu": 1}))]), False),
        (stored(container(), level(limits={"cpu": 1})), False),
    ],
)
def test_8_3_which_pods_are_best_effort(found: PodShape, best_effort: bool) -> None:
    assert found.best_effort is best_effort


def test_8_3_a_default_class_counts_by_its_name() -> None:
    classes = [priority_class("high", 1000, default=True)]
    assert len(charges(workload(role(cpu=1)), a_quota(hard={"cpu": 9}, scopes=[IN]), priority_classes=classes)) == 1
    assert charges(workload(role(cpu=1)), a_quota(hard={"cpu": 9}, scopes=[NONE]), priority_classes=classes) == ()


def refusals(job: Workload, *quotas: Quota, **facts: Any) -> list[tuple[str, str]]:
    found = examine(job, cluster([node("a")], quotas=list(quotas), **facts), gpus()).refusals
    return [(reason.code, reason.subject) for reason in found]


@pytest.mark.parametrize(
    ("containers", "inits", "key", "refused"),
    [
        ([container(cpu=1)], [], "requests.cpu", False),
        ([container(cpu=0)], [], "requests.cpu", False),  # zero is stated
        ([container(gpu=1)], [], "requests.cpu", True),  # asks for devices only
        ([container(limits={"cpu": 1})], [], "requests.cpu", False),
        ([container(cpu=1)], [], "limits.cpu", True),
        ([container(cpu=1)], [], "cpu", False),
        ([container(memory=1)], [], "cpu", True),
        ([container(cpu=1)], [], "memory", True),
        ([container(cpu=1), container("b")], [], "cpu", True),
        ([container(cpu=1)], [container("init")], "cpu", True),  # init containers must state it too
        ([container(cpu=1)], [container("init", cpu=1)], "cpu", False),
        ([container(cpu=1)], [], f"requests.{GPU}", False),  # no such demand for devices
        ([container(cpu=1)], [], "requests.ephemeral-storage", False),
        ([container()], [], "pods", False),
    ],
)
def test_8_4_each_container_must_state_what_a_quota_counts(
    containers: list[Container], inits: list[Container], key: str, refused: bool
) -> None:
    job = workload(role(template=pod(*containers, inits=inits)))
    long = {"cpu": "requests.cpu", "memory": "requests.memory"}.get(key, key)
    assert refusals(job, a_quota(hard={key: 9})) == ([("quota-must-specify", f"limit: {long}")] if refused else [])


def test_8_4_limitrange_defaults_and_pod_level_resources_state_it() -> None:
    counted = a_quota(hard={"limits.cpu": 9})
    ranges = [limit_range("r", per_container(default={"cpu": 1}))]
    assert refusals(workload(role(gpu=1)), counted, limit_ranges=ranges) == []
    raised = workload(role(template=pod(container(gpu=1), pod_level=level(limits={"memory": 1}))))
    assert refusals(raised, counted) == []
    assert refusals(raised, counted, version="v1.33.0") == [("quota-must-specify", "limit: limits.cpu")]


def test_8_4_only_a_quota_that_counts_the_pod_demands_it() -> None:
    assert refusals(workload(role(gpu=1)), a_quota(hard={"cpu": 9}, scopes=["Terminating"])) == []
    assert refusals(workload(role(replicas=0, gpu=1)), a_quota(hard={"cpu": 9})) == []


def doubts(job: Workload, here: ClusterSnapshot) -> list[tuple[str, bool]]:
    return [(doubt.reason.subject, doubt.restricts) for doubt in examine(job, here, gpus()).doubts]


def test_8_1_a_quota_that_is_not_counted_yet_is_a_doubt() -> None:
    here = cluster([node("a")], quotas=[a_quota(hard={"pods": 1}, uncounted=True)])
    assert doubts(workload(role(cpu=1)), here) == [("status of ResourceQuota limit", True)]
    (charge,) = examine(workload(role(cpu=1)), here, gpus()).charges
    assert (charge.hard, charge.left) == (1, None)


def test_8_1_a_key_that_is_not_counted_yet_matters_to_pods_that_are_charged_for_it() -> None:
    half = Quota("team", "half", {"pods": 9, f"requests.{GPU}": 9}, {"pods": 1})
    here = cluster([node("a")], quotas=[half])
    assert doubts(workload(role(cpu=1)), here) == []
    assert doubts(workload(role(gpu=1)), here) == [("status of ResourceQuota half", True)]


@pytest.mark.parametrize(
    ("key", "left", "doubtful"),
    [
        ("count/services", 0, True),
        ("services", 4, True),
        ("services", 5, False),  # there is one for every pod
        ("count/jobs.batch", 0, False),
        ("count/configmaps", 0, False),
        ("count/pods", 0, False),  # those are counted exactly
    ],
)
def test_8_2_objects_that_the_controller_may_create_besides(key: str, left: int, doubtful: bool) -> None:
    job = workload(
        role(replicas=4, cpu=1), kind="JobSet", api_version="x.io/v1", children=[("", "Service"), ("", "Pod")]
    )
    here = cluster([node("a")], quotas=[a_quota(hard={key: left})])
    assert doubts(job, here) == ([(f"{key} in ResourceQuota limit", True)] if doubtful else [])


@pytest.mark.parametrize(
    ("scopes", "named", "doubtful"),
    [([IN], "", True), ([NONE], "", True), (["Terminating"], "", False), ([IN], "system-node-critical", False)],
)
def test_8_3_an_unread_default_class_is_a_doubt_where_a_quota_asks_for_it(
    scopes: list[Scope | str], named: str, doubtful: bool
) -> None:
    job = workload(role(cpu=1, fields={"priority_class": named}))
    here = cluster([node("a")], quotas=[a_quota(hard={"cpu": 9}, scopes=scopes)], gaps=["priorityclasses"])
    unread = [subject for subject, restricts in doubts(job, here) if not restricts]
    assert unread == (["priorityclasses"] if doubtful else [])


def test_8_4_the_reason_names_the_role() -> None:
    job: Workload = workload(role("head", cpu=1), role("worker", gpu=1))
    roles: tuple[Role, ...] = job.roles
    found = examine(job, cluster([node("a")], quotas=[a_quota(hard={"cpu": 9})]), gpus()).refusals
    assert [reason.role for reason in found] == [roles[1].name]
