"""What Kubeflow Trainer 2.2 makes of a TrainJob and its runtime (its `pkg/runtime`), case by case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from advisor.company import shortages
from advisor.labels import HostPort
from advisor.workload import Role
from tests.definitions.builders import read
from tests.kube.objects import merged

Object = dict[str, Any]
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


def step(name: str = "node", is_a: str = "trainer", container: str = "node", **spec: Any) -> Object:
    """A replicated job of a runtime; `spec` is laid over that of its pods."""
    pod = {"containers": [{"name": container, "image": "x", "resources": {"requests": {"cpu": 1}}}], **spec}
    labels = {STEP: is_a} if is_a else {}
    return {"name": name, "template": {"metadata": {"labels": labels}, "spec": {"template": {"spec": pod}}}}


def runtime(*jobs: Object, policy: Any = None, metadata: Any = None, **spec: Any) -> Object:
    template = {"metadata": metadata or {}, "spec": {"replicatedJobs": list(jobs)}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "given"},
        "spec": {"mlPolicy": {"torch": {}} if policy is None else policy, "template": template, **spec},
    }


def trainjob(**spec: Any) -> Object:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "train", "namespace": "team"},
        "spec": {"runtimeRef": {"name": "given"}, **spec},
    }


def patch(job: str = "node", metadata: Any = None, **spec: Any) -> list[Object]:
    pod = {"spec": spec, **({"metadata": metadata} if metadata else {})}
    jobs = [{"name": job, "template": {"spec": {"template": pod}}}]
    return [{"manager": "example.com/team", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}}}]


def role(asked: Object, given: Object, name: str = "node") -> Role:
    workload = read(asked, given)
    assert not workload.faults
    return next(one for one in workload.roles if one.name == name)


def sizes(asked: Object, given: Object) -> dict[str, int]:
    workload = read(asked, given)
    assert not workload.faults
    return {one.name: one.replicas for one in workload.roles}


def warnings(asked: Object, given: Object) -> list[tuple[str, str]]:
    return [(note.path, note.text) for note in read(asked, given).notes if note.warns]


MPI = {"mpi": {"runLauncherAsNode": False}}
LAUNCHING = {"numNodes": 1, "mpi": {"runLauncherAsNode": True}}
PAIR = (step("launcher"), step("node", is_a=""))


@pytest.mark.parametrize(
    ("jobs", "policy", "asked", "found"),
    [
        ([step()], {"numNodes": 3, "torch": {}}, None, {"node": 3}),
        ([step()], {"numNodes": 3, "torch": {}}, 5, {"node": 5}),
        ([step()], {"torch": {}}, None, {"node": 1}),
        ([step()], {"numNodes": 3, "torch": {}}, 0, {"node": 0}),
        ([step()], {"numNodes": 3}, 5, {"node": 5}),
        ([step()], {"numNodes": 3, "flux": {}}, 5, {"node": 5}),
        ([step()], {"numNodes": 3, "jax": {}}, 5, {"node": 5}),
        ([step("a"), step("b")], {"numNodes": 3, "torch": {}}, 5, {"a": 5, "b": 3}),  # the first of the steps
        ([step(is_a="")], {"numNodes": 3, "torch": {}}, 5, {"node": 1}),
        ([step(is_a="dataset-initializer")], {"numNodes": 3, "torch": {}}, 5, {"node": 1}),
        (PAIR, MPI, 5, {"launcher": 1, "node": 5}),
        (PAIR, LAUNCHING, 5, {"launcher": 1, "node": 4}),
        (PAIR, LAUNCHING, 1, {"launcher": 1, "node": 1}),
        (PAIR, LAUNCHING, None, {"launcher": 1, "node": 1}),
        (PAIR, {"numNodes": 2, **MPI}, None, {"launcher": 2, "node": 1}),  # numNodes is that of the labelled step
    ],
)
def test_how_many_pods(jobs: list[Object], policy: Object, asked: int | None, found: Mapping[str, int]) -> None:
    trainer = {"trainer": {} if asked is None else {"numNodes": asked}}
    assert sizes(trainjob(**trainer), runtime(*jobs, policy=policy)) == found


def test_only_the_job_that_takes_the_number_of_nodes_has_other_sizes() -> None:
    for jobs, policy, sized in (
        ((step("a"), step("b")), {"torch": {}}, ["a"]),
        (PAIR, MPI, ["node"]),
        ((step(is_a=""),), {"torch": {}}, []),
    ):
        assert [one.name for one in read(trainjob(), runtime(*jobs, policy=policy)).roles if one.step] == sized


def test_without_a_policy_the_runtimes_parallelism_counts_until_the_job_says_otherwise() -> None:
    job = merged(step(), {"replicas": 7, "template": {"spec": {"parallelism": 2}}})
    given = runtime(job)
    del given["spec"]["mlPolicy"]
    assert sizes(trainjob(), given) == {"node": 2}  # steps have one job
    assert sizes(trainjob(trainer={"numNodes": 4}), given) == {"node": 4}
    other = runtime(merged(step("work", is_a=""), {"replicas": 7, "template": {"spec": {"parallelism": 2}}}))
    assert sizes(trainjob(trainer={"numNodes": 4}), other) == {"work": 14}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"limits": {"nvidia.com/gpu": 1}}, {"nvidia.com/gpu": 1000}),  # in place of all that the runtime says
        ({"requests": {"cpu": 2}}, {"cpu": 2000}),
        ({"requests": {}}, {}),
        ({}, {"cpu": 1000}),
        ({"claims": [{"name": "x"}]}, {"cpu": 1000}),
        (None, {"cpu": 1000}),
    ],
)
def test_resources_of_a_node(asked: Object | None, found: Object) -> None:
    template = role(trainjob(trainer={"resourcesPerNode": asked}), runtime(step())).template
    assert template.as_pod().requests() == found


def test_resources_are_for_the_trainers_container_alone() -> None:
    asked = trainjob(trainer={"resourcesPerNode": {"requests": {"cpu": 9}}})
    jobs = (step("launcher"), step("node", is_a=""), step("get", is_a="dataset-initializer"))
    for policy, nine in ((LAUNCHING, {"launcher", "node"}), (MPI, {"launcher"})):
        found = read(asked, runtime(*jobs, policy=policy)).roles
        assert {one.name for one in found if one.template.requests() == {"cpu": 9000}} == nine
    beside = [{"name": "side", "image": "x", "resources": {"requests": {"cpu": 3}}}]
    assert role(asked, runtime(step(containers=beside))).template.requests() == {"cpu": 3000}


class TestPatches:
    GIVEN = runtime(
        step(
            nodeSelector={"zone": "a", "pool": "x"},
            tolerations=[{"key": "old", "operator": "Exists"}],
            volumes=[{"name": "data", "emptyDir": {}}],
            schedulingGates=[{"name": "example.com/one"}],
        )
    )

    def template(self, **spec: Any) -> Any:
        return role(trainjob(runtimePatches=patch(**spec)), self.GIVEN).template

    def test_selectors_are_merged_and_tolerations_replaced(self) -> None:
        found = self.template(nodeSelector={"pool": "y"}, tolerations=[{"key": "new", "operator": "Exists"}])
        assert [str(one.key) for one in found.tolerations] == ["new"]
        assert found.nodes.keys == {"zone", "pool"}
        assert "y" in str(found.nodes) and "'x'" not in str(found.nodes)

    def test_named_members_are_merged(self) -> None:
        claim = {"name": "more", "persistentVolumeClaim": {"claimName": "bulk"}}
        found = self.template(volumes=[claim], schedulingGates=[{"name": "example.com/two"}])
        assert found.volume_claims == ("bulk",)
        assert found.gates == ("example.com/one", "example.com/two")

    def test_labels_and_affinity(self) -> None:
        terms = [{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
        found = self.template(metadata={"labels": {"team": "a"}}, affinity=affinity)
        assert ("team", "a") in found.labels
        assert "gpu" in found.nodes.keys

    def test_only_its_own_job(self) -> None:
        given = runtime(step("a"), step("b", is_a=""))
        workload = read(trainjob(runtimePatches=patch("b", nodeSelector={"pool": "y"})), given)
        assert [sorted(one.template.nodes.keys) for one in workload.roles] == [[], ["pool"]]

    def test_the_api_server_drops_other_fields(self) -> None:
        own = {"name": "node", "resources": {"requests": {"cpu": 99}}}
        asked = trainjob(runtimePatches=patch(containers=[own], priorityClassName="high"))
        found = role(asked, self.GIVEN).template
        assert (found.requests(), found.priority_class) == ({"cpu": 1000}, "")
        texts = [text for _, text in warnings(asked, self.GIVEN)]
        assert texts == ["has fields that a patch cannot have, and that the API server drops"] * 2

    def test_labels_of_the_whole_bear_on_the_jobset(self) -> None:
        key = "alpha.jobset.sigs.k8s.io/exclusive-topology"
        told = {"metadata": {"annotations": {key: "rack"}}}
        asked = trainjob(runtimePatches=[{"manager": "a.b/c", "trainingRuntimeSpec": {"template": told}}])
        (topology,) = role(asked, runtime(step())).topology
        assert (topology.key, topology.exclusive) == ("rack", True)
        assert role(trainjob(), runtime(step(), metadata={"annotations": {key: "rack"}})).topology[0].key == "rack"


class TestRefused:
    @pytest.mark.parametrize(
        ("asked", "given", "path", "says"),
        [
            (trainjob(runtimeRef={"name": "given", "kind": "Job"}), runtime(step()), "kind", "must be TrainingRuntime"),
            (trainjob(runtimeRef={}), runtime(step()), "name", "is required"),
            (trainjob(trainer={"numNodes": -1}), runtime(step()), "numNodes", "must not be negative"),
            (trainjob(trainer={"numNodes": "2"}), runtime(step()), "numNodes", "must be a whole number"),
            (trainjob(trainer={"numNodes": 2}), runtime(step(), policy=LAUNCHING), "numNodes", "must be 1 where"),
            (trainjob(initializer={"model": {}}), runtime(step()), "model", "named model-initializer"),
            (trainjob(runtimePatches=patch("other")), runtime(step()), "name", "is not the name of a job"),
            (
                trainjob(runtimePatches=patch(containers=[{"name": "other"}])),
                runtime(step()),
                "name",
                "is not the name of a container",
            ),
            (
                trainjob(runtimePatches=patch(containers=[{"name": "node", "env": [{"name": "A"}]}])),
                runtime(step()),
                "env",
                "cannot be patched",
            ),
            (trainjob(runtimePatches=[{"manager": "me"}]), runtime(step()), "manager", "a domain in front"),
            (trainjob(runtimePatches=[*patch(), *patch()]), runtime(step()), "manager", "of an earlier patch"),
            (
                trainjob(trainer={"env": [{"name": "PET_NNODES", "value": "1"}]}),
                runtime(step()),
                "name",
                "is reserved",
            ),
            (trainjob(), runtime(step(), policy={"flux": {}}), "spec", "needs a trainer"),
            (trainjob(), runtime(step(is_a=""), policy={"jax": {}}), "name", "is a JAX runtime without"),
            (trainjob(), runtime(), "name", "is a runtime whose jobs hold no pods"),
            (merged(trainjob(), {"metadata": {"name": "1st"}}), runtime(step()), "name", "must begin with a letter"),
        ],
    )
    def test_by_the_api_the_webhook_or_the_controller(self, asked: Object, given: Object, path: str, says: str) -> None:
        (fault,) = read(asked, given).faults
        assert fault.path[-1] == path
        assert fault.message.startswith(says) or says in fault.message

    @pytest.mark.parametrize(
        ("asked", "given", "path"),
        [
            (trainjob(trainer={"numNodes": 3}), runtime(step(is_a="")), "spec.trainer.numNodes"),
            (
                trainjob(trainer={"resourcesPerNode": {"limits": {"cpu": 1}}}),
                runtime(step(container="main")),
                "spec.trainer.resourcesPerNode",
            ),
        ],
    )
    def test_what_the_runtime_does_not_take_is_a_warning(self, asked: Object, given: Object, path: str) -> None:
        ((where, text),) = warnings(asked, given)
        assert where == path
        assert text.startswith("is ignored")


class TestGroups:
    def test_with_a_pod_group_the_pods_bear_its_name(self) -> None:
        found = role(trainjob(), runtime(step(), podGroupPolicy={"volcano": {}})).template
        assert ("scheduling.k8s.io/group-name", "train") in found.annotations
        found = role(trainjob(), runtime(step(), podGroupPolicy={"coscheduling": {}})).template
        assert ("scheduling.x-k8s.io/pod-group", "train") in found.labels

    def test_it_waits_for_the_pods_of_one_job_of_each_name(self) -> None:
        jobs = (step(), {**step("work", is_a=""), "replicas": 3})
        workload = read(trainjob(trainer={"numNodes": 4}), runtime(*jobs, podGroupPolicy={"volcano": {}}))
        assert (workload.pods, workload.min_available) == (7, 5)
        assert read(trainjob(), runtime(*jobs)).min_available is None

    @pytest.mark.parametrize(
        ("policy", "groups"),
        [
            ({}, ["jobset.x-k8s.io"]),
            ({"volcano": {}}, ["jobset.x-k8s.io", "scheduling.volcano.sh"]),
            ({"coscheduling": {}}, ["jobset.x-k8s.io", "scheduling.x-k8s.io"]),
        ],
    )
    def test_trainer_applies_all_objects_or_fails(self, policy: Object, groups: list[str]) -> None:
        assert list(read(trainjob(), runtime(step(), podGroupPolicy=policy)).requires) == groups

    def test_where_it_waits_for_pods_that_wait_for_others_nobody_knows(self) -> None:
        jobs = (step("get", is_a="dataset-initializer"), {**step(), "dependsOn": [{"name": "get", "status": "Ready"}]})
        (short,) = shortages([read(trainjob(), runtime(*jobs, podGroupPolicy={"coscheduling": {}}))])
        assert (short.title, short.needs, short.first) == ("the PodGroup of the runtime's podGroupPolicy", 2, 1)
        assert [*shortages([read(trainjob(), runtime(*jobs))])] == []

    @pytest.mark.parametrize(
        ("asked", "given"),
        [
            (trainjob(podTemplateOverrides=[{"targetJobs": []}]), runtime(step())),
            (trainjob(managedBy="example.com/another"), runtime(step())),
            (trainjob(), runtime(step(), podGroupPolicy={"volcano": {"networkTopology": {"mode": "hard"}}})),
            (trainjob(trainer={"command": ["tune", "run"], "numNodes": 2}), runtime(step())),
        ],
    )
    def test_what_is_not_evaluated_is_said(self, asked: Object, given: Object) -> None:
        assert len(read(asked, given).unmodelled) == 1


def test_a_port_on_the_host_network_is_one_of_the_node() -> None:
    given = runtime(step(hostNetwork=True))
    (container,) = role(trainjob(trainer={}), given).template.containers
    assert container.ports == (HostPort(29500),)
    (container,) = role(trainjob(), given).template.containers
    assert container.ports == ()  # Trainer adds it where the job has a trainer


def test_flux_comes_with_a_container_of_its_own() -> None:
    given = runtime(step(), step("other", is_a=""), policy={"flux": {}})
    names = {
        one.name: [c.name for c in one.template.init_containers] for one in read(trainjob(trainer={}), given).roles
    }
    assert names == {"node": ["flux-installer"], "other": []}


def test_pods_bear_the_labels_of_the_jobset() -> None:
    labels = dict(role(trainjob(), runtime(step())).template.labels)
    assert labels["jobset.sigs.k8s.io/jobset-name"] == "train"
    assert labels["jobset.sigs.k8s.io/replicatedjob-name"] == "node"
