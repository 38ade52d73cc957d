"""Gang objects beside a workload: their minimum counts, contradictions are told, what cannot start is a doubt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor import files
from advisor.company import shortages
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.errors import InputError
from advisor.workload import Workload

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team}
spec:
  parallelism: 4
  completions: 4
  template:
    metadata: {labels: {scheduling.x-k8s.io/pod-group: g}, annotations: {scheduling.k8s.io/group-name: g}}
    spec:
      restartPolicy: Never
      schedulingGroup: {podGroupName: g}
      containers: [{name: main, image: example/train}]
---
"""
NATIVE = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g, namespace: team}
spec: {schedulingPolicy: {gang: {minCount: 3}}}
"""
VOLCANO = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: team}
spec: {minMember: 3}
"""
COSCHEDULING = """
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: g, namespace: team}
spec: {minMember: 3}
"""


def read(*texts: str) -> list[Workload]:
    return list(reading.read(files.documents(files.Source("x", "\n---\n".join(texts))), Catalog()).workloads)


def job(*gangs: str) -> Workload:
    (workload,) = read(JOB, *gangs)
    assert not workload.faults
    return workload


@pytest.mark.parametrize("gang", [NATIVE, VOLCANO, COSCHEDULING], ids=["kubernetes", "volcano", "coscheduling"])
def test_the_minimum_of_the_object_counts(gang: str) -> None:
    workload = job(gang)
    assert workload.min_available == 3
    assert [role.minimum for role in workload.roles] == [3]
    assert [dict(group.members) for group in workload.groups] == [{"job": 4}]
    assert "starts when 3 of its pods can" in workload.notes[-1].text


def test_without_the_object_the_field_is_a_request_that_nobody_evaluates() -> None:
    assert job().min_available is None
    assert "spec.schedulingGroup" in job().roles[0].template.used
    assert "spec.schedulingGroup" not in job(NATIVE).roles[0].template.used


@pytest.mark.parametrize("field", ["namespace: team", "name: g"])
def test_an_object_of_another_name_or_namespace_is_not_theirs(field: str) -> None:
    assert job(NATIVE.replace(field, f"{field}2")).min_available is None


def test_pods_that_name_no_group_have_none() -> None:
    (workload,) = read(JOB.replace("schedulingGroup: {podGroupName: g}", ""), NATIVE)
    assert workload.min_available is None


def test_more_than_there_are_never_start() -> None:
    (short,) = shortages([job(NATIVE.replace("3", "5"))])
    assert (short.title, short.text) == ("PodGroup team/g", "waits for 5 pods, and 4 of what is asked for name it")
    assert [*shortages([job(NATIVE.replace("3", "4"))])] == []


def test_pods_of_two_workloads_may_make_up_one_gang() -> None:
    """What each must have of the minimum is what the other cannot be."""
    both = read(JOB, JOB.replace("name: train", "name: second"), NATIVE.replace("3", "7"))
    assert [*shortages(both)] == []
    assert [one.min_available for one in both] == [3, 3]
    assert len({gang.key for one in both for gang in one.gangs if gang.given}) == 1


def test_a_group_that_is_not_among_the_files_is_known_by_name() -> None:
    """Two schedulers' names in one template are two groups, of which one is given."""
    found = {gang.key: (gang.given, gang.minimum) for gang in job(VOLCANO).gangs}
    assert found == {
        "scheduling.k8s.io PodGroup team/g": (False, None),
        "scheduling.volcano.sh PodGroup team/g": (True, 3),
        "scheduling.x-k8s.io PodGroup team/g": (False, None),
    }


ORDERED = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: set, namespace: team}
spec:
  startupPolicy: {startupPolicyOrder: InOrder}
  replicatedJobs:
    - name: driver
      template:
        spec:
          template: &pod
            metadata: {labels: {scheduling.x-k8s.io/pod-group: g}}
            spec: {restartPolicy: Never, containers: [{name: main, image: example/train}]}
    - {name: worker, replicas: 2, template: {spec: {template: *pod}}}
---
"""
STATEFUL = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: set, namespace: team}
spec:
  replicas: 3
  podManagementPolicy: OrderedReady
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b, scheduling.x-k8s.io/pod-group: g}}
    spec: {containers: [{name: main, image: example/train}]}
---
"""
LEADING = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: set, namespace: team}
spec:
  replicas: 1
  startupPolicy: LeaderReady
  leaderWorkerTemplate:
    size: 3
    workerTemplate:
      metadata: {labels: {scheduling.x-k8s.io/pod-group: g}}
      spec: {containers: [{name: main, image: example/train}]}
---
"""


@pytest.mark.parametrize(
    ("manifest", "at_once"),
    [
        (ORDERED, "startupPolicy: {startupPolicyOrder: AnyOrder}"),
        (STATEFUL, "podManagementPolicy: Parallel"),
        (LEADING, "startupPolicy: LeaderCreated"),
    ],
    ids=["jobset", "statefulset", "leaderworkerset"],
)
def test_pods_that_come_only_when_others_run_cannot_be_waited_for_together(manifest: str, at_once: str) -> None:
    (short,) = shortages(read(manifest, COSCHEDULING))
    assert (short.needs, short.first, short.total) == (3, 1, 3)
    assert [*shortages(read(manifest, COSCHEDULING.replace("3", "1")))] == []
    stated = next(line.strip() for line in manifest.splitlines() if at_once.split(":")[0] in line)
    assert [*shortages(read(manifest.replace(stated, at_once), COSCHEDULING))] == []


def test_pods_that_wait_for_others_outside_the_group_come_together() -> None:
    first, _, rest = ORDERED.partition("{name: worker")
    outside = first.replace("labels: {scheduling.x-k8s.io/pod-group: g}", "labels: {}").replace("&pod ", "")
    pod = "{metadata: {labels: {scheduling.x-k8s.io/pod-group: g}}, spec: {containers: [{name: main, image: a}]}}"
    manifest = f"{outside}{{name: worker{rest.replace('*pod', pod)}"
    assert [*shortages(read(manifest, COSCHEDULING.replace("3", "2")))] == []


def test_a_basic_policy_is_no_gang() -> None:
    workload = job(NATIVE.replace("gang: {minCount: 3}", "basic: {}"))
    assert workload.min_available is None
    assert "spec.schedulingGroup" not in workload.roles[0].template.used


def test_what_else_it_asks_for_is_a_doubt() -> None:
    workload = job(NATIVE.replace("spec: {", "spec: {schedulingConstraints: {topology: [{key: rack}]}, "))
    assert [doubt.path for doubt in workload.unmodelled] == ["PodGroup team/g: spec.schedulingConstraints"]


def test_a_contradiction_is_told() -> None:
    stated = JOB.replace("namespace: team}", "namespace: team, annotations: {kai.scheduler/batch-min-member: '2'}}", 1)
    before, after = read(stated)[0], read(stated, NATIVE)[0]
    assert replace(before, notes=()).min_available in (None, 2)
    assert after.min_available == 3


def test_a_fault_has_its_place() -> None:
    with pytest.raises(InputError) as caught:
        read(JOB, NATIVE.replace("3", "three"))
    (fault,) = caught.value.faults
    assert fault.path == ("spec", "schedulingPolicy", "gang", "minCount")


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ("{}", "schedulingPolicy"),
        ("{schedulingPolicy: {}}", "schedulingPolicy"),
        ("{schedulingPolicy: {basic: {}, gang: {minCount: 1}}}", "schedulingPolicy"),
        ("{schedulingPolicy: {gang: {}}}", "schedulingPolicy.gang.minCount"),
        ("{schedulingPolicy: {gang: {minCount: 0}}}", "schedulingPolicy.gang.minCount"),
        ("{schedulingPolicy: {gang: {minCount: -1}}}", "schedulingPolicy.gang.minCount"),
        ("{schedulingPolicy: {gang: {minCount: 2147483648}}}", "schedulingPolicy.gang.minCount"),
        ("{schedulingPolicy: {basic: {}}, disruptionMode: foo}", "disruptionMode"),
        ("{schedulingPolicy: {basic: {}}, disruptionMode: {}}", "disruptionMode"),
        ("{schedulingPolicy: {basic: {}}, workloadRef: {workloadName: a}}", "workloadRef.templateName"),
        ("{schedulingPolicy: {basic: {}}, priorityClassName: A_b}", "priorityClassName"),
        ("{schedulingPolicy: {basic: {}}, priority: 1000000001}", "priority"),
    ],
)
def test_what_the_api_server_refuses_is_a_fault(spec: str, path: str) -> None:
    with pytest.raises(InputError) as caught:
        read(JOB, NATIVE.replace("{schedulingPolicy: {gang: {minCount: 3}}}", spec))
    assert [".".join(map(str, fault.path)) for fault in caught.value.faults] == [f"spec.{path}"]


@pytest.mark.parametrize(
    ("gang", "least"), [(VOLCANO, 0), (COSCHEDULING, 1), (VOLCANO.replace("volcano.sh/v1beta1", "run.ai/v2alpha2"), 0)]
)
def test_the_minimum_of_other_schedulers_has_a_bound(gang: str, least: int) -> None:
    assert read(JOB, gang.replace("3", str(least)))
    with pytest.raises(InputError, match="minMember"):
        read(JOB, gang.replace("3", str(least - 1)))


def test_an_object_of_another_file_is_found() -> None:
    others = files.documents(files.Source("y", VOLCANO))
    (found,) = reading.read(files.documents(files.Source("x", JOB)), Catalog(), further=others).workloads
    assert found.min_available == 3


CRON = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: team}
spec:
  schedule: 0 0 * * *
  jobTemplate:
    spec:
      parallelism: 4
      completions: 4
      template:
        metadata: {labels: {scheduling.x-k8s.io/pod-group: g}}
        spec: {restartPolicy: Never, containers: [{name: main, image: a}]}
---
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
spec:
  paused: true
  replicas: 4
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b, scheduling.x-k8s.io/pod-group: g}}
    spec: {containers: [{name: main, image: example/train}]}
---
"""


@pytest.mark.parametrize(
    "later",
    [JOB.replace("name: train", "name: held").replace("spec:", "spec:\n  suspend: true", 1), CRON, DEPLOYMENT],
    ids=["suspended", "scheduled", "paused"],
)
def test_pods_that_come_later_do_not_complete_a_gang(later: str) -> None:
    (short,) = shortages(read(JOB, later, COSCHEDULING.replace("3", "5")))
    assert (short.needs, short.first, short.total, short.later) == (5, 4, 8, 4)
    assert "4 of its 8 come later" in short.text
    assert [*shortages(read(JOB, later, COSCHEDULING.replace("3", "4")))] == []
    assert [*shortages(read(later, COSCHEDULING.replace("3", "4")))] == []


POD = "{spec: {containers: [{name: main, image: a}]}}"


@pytest.mark.parametrize(
    ("api", "kind", "spec", "after"),
    [
        (
            "kubeflow.org/v2beta1",
            "MPIJob",
            "{launcherCreationPolicy: WaitForWorkersReady, mpiReplicaSpecs:"
            f" {{Launcher: {{replicas: 1, template: {POD}}}, Worker: {{replicas: 2, template: {POD}}}}}}}",
            {"Launcher": ("Worker",), "Worker": ()},
        ),
        (
            "ray.io/v1",
            "RayJob",
            f"{{entrypoint: a, rayClusterSpec: {{headGroupSpec: {{rayStartParams: {{}}, template: {POD}}},"
            f" workerGroupSpecs: [{{groupName: submitter, replicas: 2, rayStartParams: {{}}, template: {POD}}}]}}}}",
            {
                "head": (),
                "worker/submitter": (),
                "submitter/submitter": ("head", "worker/submitter"),
            },
        ),
        (
            "batch.volcano.sh/v1alpha1",
            "Job",
            f"{{tasks: [{{name: a, replicas: 1, template: {POD}}},"
            f" {{name: b, replicas: 1, dependsOn: {{name: [a]}}, template: {POD}}}]}}",
            {"a": (), "b": ("a",)},
        ),
    ],
)
def test_who_is_made_after_whom(api: str, kind: str, spec: str, after: dict[str, tuple[str, ...]]) -> None:
    (found,) = read(f"{{apiVersion: {api}, kind: {kind}, metadata: {{name: it}}, spec: {spec}}}")
    assert not found.faults
    assert {role.name: role.made_after for role in found.roles} == after
