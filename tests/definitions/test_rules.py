"""What a kind refuses is a fault at its own place, what it hardly means a warning; no manifest becomes zero pods."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from advisor import files
from advisor.definitions import layers, profile, profile_schema, reading, rules
from advisor.definitions.catalog import Catalog
from advisor.definitions.engine import TRUSTED, prepare
from advisor.definitions.profile_schema import Rule
from advisor.errors import Path
from advisor.workload import Workload
from tests.test_catalog import FILES

SECRET = "hunter2secret"
POD = "template: {spec: {containers: [{name: pytorch, image: x}]}}"
WORK = "template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}"
SERVED = (
    "selector: {matchLabels: {a: b}}, "
    "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: main, image: x}]}}"
)
CLUSTER = f"headGroupSpec: {{{POD}}}"
KINDS = {
    "Deployment": "apps/v1",
    "Job": "batch/v1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "Milvus": "milvus.io/v1beta1",
    "MPIJob": "kubeflow.org/v2beta1",
    "PyTorchJob": "kubeflow.org/v1",
    "RayCluster": "ray.io/v1",
    "RayJob": "ray.io/v1",
}


def read(kind: str, spec: str, *others: str, metadata: str = "{name: x}") -> Workload:
    text = f"apiVersion: {KINDS[kind]}\nkind: {kind}\nmetadata: {metadata}\nspec: {spec}\n"
    documents = files.documents(files.Source("m.yaml", "---\n".join([text, *others])))
    return reading.read(documents, Catalog()).workloads[0]


def faults(workload: Workload) -> list[str]:
    return [str(fault).split("\n")[0].split(" ", 1)[1] for fault in workload.faults]


def pods(workload: Workload) -> dict[str, int]:
    assert not workload.faults
    return {role.name: role.replicas for role in workload.roles}


def warnings(workload: Workload) -> list[str]:
    return [f"{note.path}: {note.text}" if note.path else note.text for note in workload.notes if note.warns]


def specs(kind: str, **types: str) -> str:
    return f"{{{kind}ReplicaSpecs: {{{', '.join(f'{name}: {text}' for name, text in types.items())}}}}}"


ONE, TWO, NONE = (f"{{replicas: {count}, {POD}}}" for count in (1, 2, 0))


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        ("Deployment", "{}", ["spec.template: is required", "spec.selector: is required"]),
        (
            "Job",
            f"{{completionMode: Indexed, parallelism: 2, {WORK}}}",
            ["spec.completionMode: Indexed needs completions"],
        ),
        ("MPIJob", "{}", ["spec.mpiReplicaSpecs: is required"]),
        ("MPIJob", specs("mpi", Worker=TWO), ["spec.mpiReplicaSpecs.Launcher: is required"]),
        (
            "MPIJob",
            specs("mpi", launcher=ONE, worker=TWO),
            [
                "spec.mpiReplicaSpecs.launcher: is no replica type of an MPIJob",
                "spec.mpiReplicaSpecs.worker: is no replica type of an MPIJob",
                "spec.mpiReplicaSpecs.Launcher: is required",
            ],
        ),
        (
            "MPIJob",
            specs("mpi", Launcher=TWO, Worker=f"{{{POD}}}"),
            [
                "spec.mpiReplicaSpecs.Launcher.replicas: must be 1",
                "spec.mpiReplicaSpecs.Worker.replicas: must be at least 1",
            ],
        ),
        ("PyTorchJob", "{}", ["spec.pytorchReplicaSpecs: is required"]),
        ("PyTorchJob", specs("pytorch"), ["spec.pytorchReplicaSpecs: must name a Master or a Worker"]),
        (
            "PyTorchJob",
            specs("pytorch", Chief=TWO, Worker=TWO),
            ["spec.pytorchReplicaSpecs.Chief: is no replica type of a PyTorchJob"],
        ),
        (
            "PyTorchJob",
            specs("pytorch", Worker=TWO, worker=TWO),
            [
                "spec.pytorchReplicaSpecs.Worker: stands there in two spellings",
                "spec.pytorchReplicaSpecs.worker: stands there in two spellings",
            ],
        ),
        (
            "PyTorchJob",
            specs("pytorch", Master=TWO, Worker=NONE),
            ["spec.pytorchReplicaSpecs.Master.replicas: must be 1 for the Master"],
        ),
        (
            "PyTorchJob",
            specs("pytorch", Worker=TWO.replace("pytorch", "main")),
            ["spec.pytorchReplicaSpecs.Worker.template.spec.containers: must hold a container named pytorch"],
        ),
        (
            "PyTorchJob",
            specs("pytorch", Worker="{replicas: 2}"),
            ["spec.pytorchReplicaSpecs.Worker.template: is required"],
        ),
        (
            "PyTorchJob",
            f"{{elasticPolicy: {{}}, pytorchReplicaSpecs: {{Master: {ONE}}}}}",
            ["spec.pytorchReplicaSpecs: must name a Worker where spec.elasticPolicy is set"],
        ),
        (
            "PyTorchJob",
            f"{{pytorchReplicaSpecs: {SECRET}}}",
            ["spec.pytorchReplicaSpecs: must be a mapping, not text"],
        ),
        ("JobSet", "{}", ["spec.replicatedJobs: must have a job at least"]),
        ("JobSet", "{replicatedJobs: []}", ["spec.replicatedJobs: must have a job at least"]),
        (
            "JobSet",
            "{replicatedJobs: [{name: a, template: {spec: {}}}]}",
            ["spec.replicatedJobs[0].template.spec.template: is required"],
        ),
        (
            "JobSet",
            f"{{replicatedJobs: [{{name: a, template: {{spec: {{{POD}}}}}, dependsOn: [{{name: b, status: Ready}}]}},"
            f" {{name: b, template: {{spec: {{{POD}}}}}, dependsOn: [{{name: c, status: Done}}]}}]}}",
            [
                "spec.replicatedJobs[0].dependsOn[0].name: is not the name of an earlier job",
                "spec.replicatedJobs[1].dependsOn[0].name: is not the name of an earlier job",
                "spec.replicatedJobs[1].dependsOn[0].status: must be Ready or Complete",
            ],
        ),
        ("LeaderWorkerSet", "{}", ["spec.leaderWorkerTemplate: is required"]),
        (
            "LeaderWorkerSet",
            "{leaderWorkerTemplate: {}}",
            ["spec.leaderWorkerTemplate.workerTemplate: is required"],
        ),
        (
            "LeaderWorkerSet",
            f"{{leaderWorkerTemplate: {{size: 0, workerT{POD[1:]}}}}}",
            ["spec.leaderWorkerTemplate.size: must be at least 1: the leader"],
        ),
        (
            "RayCluster",
            f"{{workerGroupSpecs: [{{groupName: a, {POD}}}]}}",
            ["spec.headGroupSpec: is required"],
        ),
        (
            "RayCluster",
            f"{{{CLUSTER}, workerGroupSpecs: [{{groupName: a, replicas: 2, rayStartParams: {{}}}}]}}",
            ["spec.workerGroupSpecs[0].template: is required"],
        ),
        (
            "RayCluster",
            f"{{{CLUSTER}, workerGroupSpecs: [{{groupName: a, minReplicas: 5, maxReplicas: 2, {POD}}}]}}",
            ["spec.workerGroupSpecs[0].minReplicas: is above the group's maxReplicas"],
        ),
        ("RayJob", "{}", ["spec.rayClusterSpec: is required where no clusterSelector names a cluster"]),
        ("RayJob", "{rayClusterSpec: {}}", ["spec.rayClusterSpec.headGroupSpec: is required"]),
        (
            "RayJob",
            "{clusterSelector: {ray.io/cluster: c}, submissionMode: SidecarMode}",
            ["spec.clusterSelector: cannot be used with submissionMode SidecarMode"],
        ),
    ],
)
def test_what_the_kind_refuses(kind: str, spec: str, expected: list[str]) -> None:
    assert faults(read(kind, spec)) == expected


def test_a_fault_has_its_line_and_a_remedy() -> None:
    (fault,) = read("PyTorchJob", "\n  pytorchReplicaSpecs:\n    Chief: {" + POD + "}").faults
    assert str(fault).startswith("m.yaml:6 spec.pytorchReplicaSpecs.Chief: is no replica type")
    assert "Master and Worker" in fault.hint


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        ("MPIJob", specs("mpi", Launcher=ONE, Worker=TWO), {"Launcher": 1, "Worker": 2}),
        ("MPIJob", specs("mpi", Launcher=f"{{{POD}}}"), {"Launcher": 1}),
        ("PyTorchJob", specs("pytorch", Master=ONE, Worker=TWO), {"Master": 1, "Worker": 2}),
        ("PyTorchJob", specs("pytorch", worker=TWO), {"Worker": 2}),
        (
            "JobSet",
            f"{{replicatedJobs: [{{name: b, replicas: 0, template: {{spec: {{{POD}}}}}}},"
            f" {{name: a, template: {{spec: {{{POD}}}}}, dependsOn: [{{name: b, status: Ready}}]}}]}}",
            {"b": 0, "a": 1},
        ),
        ("LeaderWorkerSet", f"{{leaderWorkerTemplate: {{size: 3, workerT{POD[1:]}}}}}", {"leader": 1, "worker": 2}),
        (
            "RayCluster",
            f"{{{CLUSTER}, workerGroupSpecs: [{{groupName: a, minReplicas: 2, maxReplicas: 2, {POD}}}]}}",
            {"head": 1, "a": 2},
        ),
        ("RayJob", f"{{clusterSelector: {{}}, rayClusterSpec: {{{CLUSTER}}}}}", {"head": 1, "submitter": 1}),
        ("RayJob", "{clusterSelector: {ray.io/cluster: c}, submissionMode: HTTPMode}", {}),
    ],
)
def test_what_it_takes(kind: str, spec: str, expected: dict[str, int]) -> None:
    assert pods(read(kind, spec)) == expected


def elastic(least: str, policy: str = "runPolicy: {schedulingPolicy: {minAvailable: %s}}") -> Workload:
    types = specs("pytorch", Master=ONE, Worker=f"{{replicas: 4, {POD}}}")
    return read("PyTorchJob", f"{{{policy % least}, {types[1:]}")


def test_a_minimum_above_the_size_counts_as_the_size() -> None:
    workload = elastic("9")
    assert (workload.min_available, [role.minimum for role in workload.roles]) == (5, [1, 4])
    assert warnings(workload) == ["a minimum of 9 is above the 5 pods that there are: all of them count"]
    assert (elastic("5").min_available, warnings(elastic("5"))) == (5, [])
    assert elastic("0").min_available is None


@pytest.mark.parametrize(("least", "minimum", "warned"), [("12", 8, True), ("8", 8, False), ("3", 3, False)])
def test_a_minimum_in_an_annotation(least: str, minimum: int, warned: bool) -> None:
    metadata = f'{{name: x, annotations: {{kueue.x-k8s.io/job-min-parallelism: "{least}"}}}}'
    workload = read("Job", f"{{parallelism: 8, {WORK}}}", metadata=metadata)
    assert workload.roles[0].minimum == minimum
    assert bool(warnings(workload)) == warned


def test_a_minimum_that_is_no_number_is_not_repeated() -> None:
    metadata = f"{{name: x, annotations: {{kueue.x-k8s.io/job-min-parallelism: {SECRET}}}}}"
    (fault,) = read("Job", f"{{{WORK}}}", metadata=metadata).faults
    assert fault.path == ("metadata", "annotations", "kueue.x-k8s.io/job-min-parallelism")
    assert SECRET not in str(fault)


@pytest.mark.parametrize(
    ("policy", "bounds", "warned"),
    [
        ("minReplicas: 2, maxReplicas: 6", (1, 5), 0),
        ("maxReplicas: 6", (4, 5), 1),
        ("minReplicas: 5, maxReplicas: 3", (4, 4), 1),
    ],
)
def test_the_master_counts_in_both_elastic_bounds(policy: str, bounds: tuple[int, int], warned: int) -> None:
    workload = elastic(policy, "elasticPolicy: {%s}")
    worker = workload.roles[1]
    assert ((worker.minimum, worker.maximum), len(warnings(workload))) == (bounds, warned)


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        (
            "RayJob",
            f"{{submissionMode: Bogus, rayClusterSpec: {{{CLUSTER}}}}}",
            ["spec.submissionMode: is no mode that KubeRay knows, so nothing submits the job"],
        ),
        ("RayJob", f"{{submissionMode: HTTPMode, rayClusterSpec: {{{CLUSTER}}}}}", []),
        (
            "PyTorchJob",
            specs("pytorch", worker=TWO),
            [
                "spec.pytorchReplicaSpecs.worker: is in other letters than Master and Worker,"
                " which Training Operator 1.7 and later refuse"
            ],
        ),
        (
            "PyTorchJob",
            specs("pytorch", Master=f"{{{POD}}}"),
            [
                "spec.pytorchReplicaSpecs.Master.replicas: is not given for the Master,"
                " which Training Operator 1.8 and later refuse"
            ],
        ),
    ],
)
def test_what_is_only_worth_a_warning(kind: str, spec: str, expected: list[str]) -> None:
    assert warnings(read(kind, spec)) == expected


SCALER = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: h, namespace: {namespace}}}
spec: {{scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {name}}}, {least} maxReplicas: 9}}
"""


def scaled(spec: str, name: str = "x", namespace: str = "default", least: str = "minReplicas: 3,") -> Workload:
    return read("Deployment", spec, SCALER.format(name=name, namespace=namespace, least=least))


def test_a_scaler_in_the_files_owns_replicas_that_are_not_given() -> None:
    workload = scaled(f"{{{SERVED}}}")
    assert pods(workload) == {"replica": 3}
    said = [(note.path, note.text) for note in workload.notes if note.rule == "scaler"]
    assert said == [("spec.replicas", "is 3, the minimum of HorizontalPodAutoscaler h")]
    assert pods(scaled(f"{{{SERVED}}}", least="")) == {"replica": 1}


def test_a_scaler_leaves_others_alone() -> None:
    assert pods(scaled(f"{{{SERVED}}}", name="other")) == {"replica": 1}
    assert pods(scaled(f"{{{SERVED}}}", namespace="other")) == {"replica": 1}
    assert pods(scaled(f"{{replicas: 4, {SERVED}}}")) == {"replica": 4}
    assert pods(scaled(f"{{replicas: 0, {SERVED}}}")) == {"replica": 0}
    assert not warnings(scaled(f"{{replicas: 0, {SERVED}}}"))


KEDA = """
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {{name: h}}
spec: {{scaleTargetRef: {{name: {name}}}, {least} maxReplicaCount: 9, triggers: []}}
"""


def by_keda(spec: str, least: str, name: str = "x") -> Workload:
    return read("Deployment", spec, KEDA.format(name=name, least=least))


def test_a_scaled_object_means_a_deployment_where_it_says_no_kind() -> None:
    assert pods(by_keda(f"{{{SERVED}}}", "minReplicaCount: 4,")) == {"replica": 4}
    assert pods(by_keda(f"{{{SERVED}}}", "minReplicaCount: 4,", name="other")) == {"replica": 1}
    other = KEDA.format(name="x", least="minReplicaCount: 4,")
    job = read("PyTorchJob", f"{{pytorchReplicaSpecs: {{Worker: {{{POD}}}}}}}", other)
    assert pods(job) == {"Worker": 1}


@pytest.mark.parametrize("least", ["", "minReplicaCount: 0,"])
def test_a_scaled_object_without_a_minimum_starts_with_one_and_may_go_to_none(least: str) -> None:
    workload = by_keda(f"{{{SERVED}}}", least)
    assert pods(workload) == {"replica": 1}
    (said,) = [note.text for note in workload.notes if note.rule == "scaler"]
    assert said == "is 1, the minimum of ScaledObject h, which may also take it to 0 while there is nothing to do"


@pytest.mark.parametrize(
    ("stated", "least", "said"),
    [
        (0, 4, ["spec.replicas: becomes 4 (it says 0): ScaledObject h keeps it at 4 to 9"]),
        (1, 4, ["spec.replicas: becomes 4 (it says 1): ScaledObject h keeps it at 4 to 9"]),
        (12, 4, ["spec.replicas: becomes 9 (it says 12): ScaledObject h keeps it at 4 to 9"]),
        (4, 4, []),
        (0, 0, []),
    ],
)
def test_a_scaled_object_raises_a_number_that_is_given(stated: int, least: int, said: list[str]) -> None:
    workload = by_keda(f"{{replicas: {stated}, {SERVED}}}", f"minReplicaCount: {least},")
    assert (pods(workload), warnings(workload)) == ({"replica": min(max(stated, least), 9)}, said)


PYTORCH = "containers: [{name: pytorch, image: x}]"


@pytest.mark.parametrize(
    ("policy", "workers", "raised"),
    [
        ("minReplicas: 2, maxReplicas: 6, metrics: [{type: Resource}]", 1, 2),
        ("minReplicas: 2, maxReplicas: 6, metrics: []", 1, 2),
        ("minReplicas: 2, maxReplicas: 6, metrics: [{type: Resource}]", 3, 3),
        ("minReplicas: 2, maxReplicas: 6", 1, 1),
    ],
)
def test_metrics_of_an_elastic_policy_raise_the_workers(policy: str, workers: int, raised: int) -> None:
    """training-operator v1.9.3 pkg/controller.v1/pytorch/hpa.go: an autoscaler where metrics are not nil."""
    worker = f"{{replicas: {workers}, template: {{spec: {{{PYTORCH}}}}}}}"
    workload = read("PyTorchJob", f"{{elasticPolicy: {{{policy}}}, pytorchReplicaSpecs: {{Worker: {worker}}}}}")
    assert pods(workload) == {"Worker": raised}
    warned = [one for one in warnings(workload) if "the autoscaler raises it" in one]
    assert len(warned) == (raised > workers)
    assert all(one.startswith("spec.pytorchReplicaSpecs.Worker.replicas: ") for one in warned)


def test_a_key_in_other_letters_is_not_said_to_be_dropped() -> None:
    part = f"{{template: {{spec: {{{PYTORCH}}}}}}}"
    workload = read("PyTorchJob", f"{{pytorchReplicaSpecs: {{worker: {part}, MASTER: {part}}}}}")
    assert pods(workload) == {"Master": 1, "Worker": 1}
    said = {(note.rule, note.path, note.text) for note in workload.notes if not note.warns}
    assert {
        ("renamed", "spec.pytorchReplicaSpecs.worker", "is read as Worker"),
        ("renamed", "spec.pytorchReplicaSpecs.MASTER", "is read as Master"),
        ("default", "spec.pytorchReplicaSpecs.Worker.replicas", "is 1 by default"),
    } <= said
    assert "dropped" not in {rule for rule, _, _ in said}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"a": {"x": 1}}, {"b": {"x": 1, "y": 2}}, ["a is read as b", "b.y is 2 by default"]),
        ({"a": {"x": 1}}, {"b": {"x": 2}}, ["a is not used by the controller", "b is filled in by default"]),
        ({"a": 1}, {"b": 1}, ["a is not used by the controller", "b is 1 by default"]),
        ({"a": {"x": 1}}, {}, ["a is not used by the controller"]),
        ({"a": {"x": 1}, "B": 1}, {"A": {"x": 1}, "b": 1}, ["a is read as A", "B is read as b"]),
    ],
)
def test_what_stands_elsewhere_is_renamed_and_what_is_nowhere_dropped(before: Any, after: Any, said: list[str]) -> None:
    assert [f"{note.path} {note.text}" for note in profile.differences(before, after, ())] == said


PARTS = (
    "{mode: cluster, components: {proxy: {replicas: -1}, queryNode: {replicas: 4}, dataNode: {groups: [{name: a, "
    "replicas: -1}]}}, dependencies: {msgStreamType: woodpecker, etcd: {external: true, endpoints: [e]}, "
    "storage: {external: true, endpoint: s}}}"
)


@pytest.mark.parametrize(
    ("target", "part"),
    [("x-milvus-proxy", "proxy"), ("x-milvus-datanode-a-1", "datanode-a"), ("x-milvus-querynode", "")],
)
def test_a_part_that_leaves_its_number_to_a_scaler_has_its_minimum(target: str, part: str) -> None:
    workload = read("Milvus", PARTS, SCALER.format(name=target, namespace="default", least="minReplicas: 3,"))
    alone = {"mixcoord": 1, "proxy": 1, "querynode": 4, "datanode-a": 1, "streamingnode": 1}
    assert pods(workload) == {**alone, **({part: 3} if part else {})}
    assert {role.name: (role.minimum, role.maximum) for role in workload.roles if role.maximum} == (
        {part: (3, 9)} if part else {}
    )
    (missing,) = workload.missing
    assert not missing.required


def test_a_rule_looks_at_every_place_by_itself() -> None:
    text = "{at: '.spec.list[]', is: mapping, required: true, must: '.a > $path[-1]', says: is wrong}"
    rule = Rule.model_validate(yaml.safe_load(text))
    document = prepare({"spec": {"list": [{"a": 1}, {"a": 1}, None, "x"]}})
    found, notes = rules.broken([rule], "", document, TRUSTED)
    assert [(fault.path[-1], fault.message) for fault in found] == [
        (1, "is wrong"),
        (2, "is wrong"),
        (3, "must be a mapping, not text"),
    ]
    assert not notes


WRONG: tuple[Any, ...] = (None, 3, 1.5, SECRET, [], {}, [SECRET], {SECRET: 1}, [None])


FIELDS = {"Workspace": ("resource", "inference", "tuning")}
"""Of kinds whose fields stand beside the metadata and not in `spec`."""


def examples() -> Iterator[Any]:
    for path in FILES:
        document = layers.builtin(path).entries[0].profile_document
        assert document
        for example in profile_schema.parse(document).spec.examples:
            plain = [json.loads(json.dumps(one)) for one in (example.manifest, *example.with_)]
            yield pytest.param(plain, id=f"{path.stem}: {example.name}")


def nodes(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every place down to containers and amounts, whose faults may show a quantity."""
    if path:
        yield path
    if not path or path[-1] not in ("containers", "initContainers", "limits", "requests"):
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, member in items:
            yield from nodes(member, (*path, key))


def with_wrong(manifest: Any, path: Path, value: Any) -> Any:
    """The manifest with something else at `path`; without it when that is `...`."""
    changed = at = copy.deepcopy(manifest)
    for step in path[:-1]:
        at = at[step]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return changed


@pytest.mark.parametrize("example", list(examples()))
def test_whatever_is_wrong_is_told_in_the_manifests_own_terms(example: list[Any]) -> None:
    """Never in those of jq or of a profile, never with a value, and never as zero pods.

    No role at all is a fault unless the profile says that it is right (`podless`).
    """
    manifest, *others = example
    fields = FIELDS.get(manifest["kind"], ("spec",))
    for path in nodes({key: value for key, value in manifest.items() if key in fields}):
        for value in (..., *WRONG):
            for workload in read_together(with_wrong(manifest, path, value), *others):
                told = workload.faults or workload.is_open or warnings(workload)
                assert told or workload.pods or not workload.roles, (path, value)
                for fault in workload.faults:
                    assert fault.code == "invalid", (path, value, str(fault))
                    assert fault.path[0] in fields, (path, value, str(fault))
                    assert SECRET not in f"{fault.message} {fault.hint}", str(fault)


@pytest.mark.parametrize("example", [one for one in examples() if len(one.values[0]) > 1])
def test_what_is_wrong_with_an_object_that_is_referred_to_is_never_zero_pods(example: list[Any]) -> None:
    manifest, *others = example
    for place, other in enumerate(others):
        for path in nodes(other["spec"], ("spec",)):
            for value in (..., *WRONG):
                broken = [*others[:place], with_wrong(other, path, value), *others[place + 1 :]]
                for workload in read_together(manifest, *broken):
                    assert workload.faults or workload.pods, (path, value)
                    for fault in workload.faults:
                        assert SECRET not in f"{fault.message} {fault.hint}", str(fault)


def read_together(*objects: Any) -> tuple[Workload, ...]:
    """The first of the objects, with the others at hand."""
    first, *others = (files.documents(files.Source("m.json", json.dumps(one))) for one in objects)
    return reading.read(first, Catalog(), further=[one for found in others for one in found]).workloads


def test_a_rule_needs_words() -> None:
    with pytest.raises(ValueError, match="a condition needs says"):
        Rule.model_validate(yaml.safe_load("{at: .spec, must: 'true'}"))
