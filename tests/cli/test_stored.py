"""Definitions that clusters hold: before ours, read with everything else, and never for the worse."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import yaml

from advisor.definitions.shipped import builtin_folder
from tests.cli import fleet, live
from tests.cli.conftest import Run
from tests.cli.fleet import definition, job, jobset, pod_template, room, write
from tests.kube.objects import Object
from tests.kube.stub import Behaviour, Stub, listing, reply, serving, status

KARTAS = "/apis/run.ai/v1alpha1/kartas"
OLD = "/apis/optimization.nvidia.com/v1alpha1/resourceinterfaces"


def group(name: str, version: str = "v1alpha1") -> Object:
    served = {"groupVersion": f"{name}/{version}", "version": version}
    return {"name": name, "versions": [served], "preferredVersion": served}


SERVED = [*live.GROUPS, group("batch", "v1"), group("example.com", "v1")]


def routes(kartas: Sequence[Object] | Behaviour | None = None, old: Sequence[Object] = ()) -> dict[str, Behaviour]:
    """A cluster with room, and with these definitions; None: it does not know the kind."""
    found = live.routes(room("h200"))
    groups = [*SERVED, *([] if kartas is None else [group("run.ai")]), group("optimization.nvidia.com")]
    found["/apis"] = reply({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    if kartas is not None:
        found[KARTAS] = kartas if callable(kartas) else reply(listing("Karta", *kartas, version="run.ai/v1alpha1"))
    found[OLD] = reply(listing("ResourceInterface", *old, version="optimization.nvidia.com/v1alpha1"))
    return found


@contextmanager
def clusters(folder: Path, **given: Mapping[str, Behaviour]) -> Iterator[dict[str, Stub]]:
    """Stubs, and a kubeconfig `config` with a context for each."""
    with ExitStack() as stack:
        found = {name: stack.enter_context(serving(one)) for name, one in given.items()}
        live.kubeconfig(folder / "config", {name: stub.url for name, stub in found.items()})
        yield found


def foo(pods: int = 1) -> Object:
    spec = {"workers": pods, "template": pod_template(1)}
    return {"apiVersion": "example.com/v1", "kind": "FooJob", "metadata": {"name": "it"}, "spec": spec}


def counting(path: str = ".spec.workers", name: str = "foo") -> Object:
    made = definition()
    made["metadata"]["name"] = name
    made["spec"]["structureDefinition"]["rootComponent"]["scaleDefinition"] = {"replicasPath": path}
    return made


def ours(name: str) -> Object:
    """The definition of our catalogue, without its profile."""
    found: Object = next(yaml.safe_load_all((builtin_folder() / f"{name}.yaml").read_text()))
    return copy.deepcopy(found)


class TestPlace:
    def test_a_kind_that_only_a_cluster_knows(self, run: Run, folder: Path) -> None:
        write(folder / "foo.yaml", foo(3))
        with clusters(folder, eu=routes([counting()]), us=routes()) as stubs:
            ran = run("foo.yaml", "--kubeconfig", "config", "-o", "json")
            assert len(stubs["eu"].asked(KARTAS)) == 2, "once to know the kind, once with everything else"
        assert ran.code == 0
        (workload,) = ran.report["workloads"]
        assert workload["definition"] == {"name": "foo", "from": "cluster eu"}
        assert [role["replicas"] for role in workload["roles"]] == [3]

    def test_a_kind_that_nobody_knows_is_told_without_a_look_at_nodes(self, run: Run, folder: Path) -> None:
        write(folder / "foo.yaml", foo())
        with clusters(folder, eu=routes([])) as stubs:
            ran = run("foo.yaml", "--kubeconfig", "config")
            assert stubs["eu"].asked("/api/v1/nodes") == []
        assert ran.code == 5 and "no definition for FooJob" in ran.err

    def test_a_clusters_definition_comes_before_ours_and_after_the_users(self, run: Run, folder: Path) -> None:
        write(folder / "job.yaml", job())
        mine = ours("batch-job-v1")
        mine["metadata"]["name"] = "theirs"
        file = write(folder / "mine.yaml", ours("batch-job-v1"))
        with clusters(folder, eu=routes([mine])) as stubs:
            ran = run("job.yaml", "--kubeconfig", "config", "-o", "json")
            assert ran.report["workloads"][0]["definition"] == {"name": "theirs", "from": "cluster eu"}
            assert (len(stubs["eu"].asked(KARTAS)), len(stubs["eu"].asked("/api/v1/nodes"))) == (1, 1)
            named = run("job.yaml", "--kubeconfig", "config", "--definition", file, "-o", "json")
        assert ran.code == named.code == 0
        assert ran.err == "", "where both read the same pods there is nothing to say"
        assert named.report["workloads"][0]["definition"]["from"] == f"file {file}"

    def test_where_the_two_count_otherwise_both_are_told(self, run: Run, folder: Path) -> None:
        write(folder / "job.yaml", job(pods=2))
        theirs = ours("batch-job-v1")
        component = theirs["spec"]["structureDefinition"]["rootComponent"]
        component["scaleDefinition"]["replicasPath"] = "1"
        with clusters(folder, eu=routes([theirs])):
            ran = run("job.yaml", "--kubeconfig", "config", "-o", "json")
        assert ran.report["workloads"][0]["definition"]["from"] == "cluster eu"
        told = "Job default/train is 1 pod in 1 gang (cpu 8, memory 64Gi, nvidia.com/gpu 1) by the definition of"
        assert (
            f"{told} cluster eu" in ran.err
            and "2 pods in 1 gang (cpu 16, memory 128Gi, nvidia.com/gpu 2) by ours" in ran.err
        )

    def test_what_a_clusters_definition_cannot_read_is_read_by_ours(self, run: Run, folder: Path) -> None:
        write(folder / "job.yaml", job())
        theirs = ours("batch-job-v1")
        component = theirs["spec"]["structureDefinition"]["rootComponent"]
        component["scaleDefinition"]["replicasPath"] = ".spec.nothing * 2"
        with clusters(folder, eu=routes([theirs])):
            ran = run("job.yaml", "--kubeconfig", "config", "-o", "json")
        assert ran.code == 0
        assert ran.report["workloads"][0]["definition"]["from"] == "builtin"
        assert "the definition of cluster eu cannot read Job default/train, so ours does" in ran.err

    def test_what_one_clusters_definition_cannot_read_is_read_by_the_next_ones(self, run: Run, folder: Path) -> None:
        write(folder / "foo.yaml", foo(2))
        with clusters(folder, eu=routes([counting('"many"')]), us=routes([counting()])):
            ran = run("foo.yaml", "--kubeconfig", "config", "-o", "json")
        assert ran.code == 0, ran.err
        (workload,) = ran.report["workloads"]
        assert workload["definition"]["from"] == "cluster us"
        assert [role["replicas"] for role in workload["roles"]] == [2]
        assert "the definition of cluster eu cannot read FooJob default/it, so that of cluster us does" in ran.err

    def test_what_no_clusters_definition_can_read_is_a_fault(self, run: Run, folder: Path) -> None:
        write(folder / "foo.yaml", foo(2))
        with clusters(folder, eu=routes([counting('"many"')]), us=routes([counting('"more"')])):
            ran = run("foo.yaml", "--kubeconfig", "config")
        assert ran.code == 2 and "cannot read" not in ran.err

    def test_a_definition_of_other_components_leaves_ours_whole(self, run: Run, folder: Path) -> None:
        write(folder / "job.yaml", job())
        theirs = ours("batch-job-v1")
        theirs["spec"]["structureDefinition"]["rootComponent"]["name"] = "other"
        theirs["spec"]["optimizationInstructions"] = {}
        with clusters(folder, eu=routes([theirs])):
            ran = run("job.yaml", "--kubeconfig", "config", "-o", "json")
        assert (ran.code, ran.report["workloads"][0]["definition"]["from"]) == (0, "builtin")

    def test_a_broken_definition_is_left_out_with_a_warning(self, run: Run, folder: Path) -> None:
        write(folder / "job.yaml", job())
        broken, other = ours("batch-job-v1"), definition("BarJob", ".[")
        broken["spec"]["structureDefinition"]["rootComponent"]["scaleDefinition"]["replicasPath"] = ".["
        with clusters(folder, eu=routes([broken, other])):
            ran = run("job.yaml", "--kubeconfig", "config", "-o", "json")
        assert (ran.code, ran.report["workloads"][0]["definition"]["from"]) == (0, "builtin")
        assert "cluster eu, Karta batch-job-v1" in ran.err and "[ is not closed" in ran.err
        assert "BarJob" not in ran.err, "nobody asked about that kind"

    def test_two_for_one_kind_are_refused_when_they_are_needed(self, run: Run, folder: Path) -> None:
        write(folder / "foo.yaml", foo())
        write(folder / "job.yaml", job())
        with clusters(folder, eu=routes([counting(name="a"), counting(name="b")])):
            needed = run("foo.yaml", "--kubeconfig", "config")
            other = run("job.yaml", "--kubeconfig", "config")
        assert needed.code == 2 and "example.com/v1 FooJob has 2 definitions" in needed.err
        assert "cluster eu, Karta a and cluster eu, Karta b" in needed.err
        assert other.code == 0 and other.err == ""

    def test_clusters_that_disagree(self, run: Run, folder: Path) -> None:
        write(folder / "foo.yaml", foo(2))
        with clusters(folder, eu=routes([counting()]), us=routes([counting("1")]), ap=routes([counting()])):
            ran = run("foo.yaml", "--kubeconfig", "config", "-o", "json")
        assert ran.report["workloads"][0]["definition"]["from"] == "cluster eu"
        assert [role["replicas"] for role in ran.report["workloads"][0]["roles"]] == [2]
        assert "FooJob has another definition in cluster us than in eu, which is used for all of them" in ran.err

    def test_the_old_name_of_the_kind(self, run: Run, folder: Path) -> None:
        write(folder / "foo.yaml", foo())
        old = {**counting(), "apiVersion": "optimization.nvidia.com/v1alpha1", "kind": "ResourceInterface"}
        with clusters(folder, eu=routes(None, [old])) as stubs:
            ran = run("foo.yaml", "--kubeconfig", "config", "-o", "json")
            assert stubs["eu"].asked(KARTAS) == [], "a kind that is not served is not asked for"
        assert ran.code == 0
        assert "ResourceInterface is the old name of this kind" in ran.err

    def test_without_permission_ours_are_used_and_it_is_said(self, run: Run, folder: Path) -> None:
        write(folder / "job.yaml", job())
        with clusters(folder, eu=routes(status(403, "Forbidden"))):
            ran = run("job.yaml", "--kubeconfig", "config", "-o", "json")
        assert ran.code == 0
        (entry,) = ran.report["workloads"][0]["clusters"]
        assert [(gap["what"], gap["why"]) for gap in entry["gaps"]] == [("kartas", "forbidden")]

    @pytest.mark.parametrize("behaviour", [status(404, "NotFound"), reply(listing("Karta", version="run.ai/v1alpha1"))])
    def test_without_definitions_nothing_is_said(self, run: Run, folder: Path, behaviour: Behaviour) -> None:
        write(folder / "job.yaml", job())
        with clusters(folder, eu=routes(behaviour)):
            ran = run("job.yaml", "--kubeconfig", "config", "-o", "json")
        assert (ran.code, ran.err) == (0, "")
        assert ran.report["workloads"][0]["clusters"][0]["gaps"] == []

    def test_another_version_of_the_group_has_no_definitions(self, run: Run, folder: Path) -> None:
        write(folder / "job.yaml", job())
        found = routes()
        found["/apis"] = reply({"kind": "APIGroupList", "apiVersion": "v1", "groups": [*SERVED, group("run.ai", "v2")]})
        with clusters(folder, eu=found) as stubs:
            ran = run("job.yaml", "--kubeconfig", "config")
            assert not [path for path, _, _ in stubs["eu"].requests if "run.ai" in path]
        assert ran.code == 0

    def test_a_definition_that_needs_more_of_the_clusters(self, run: Run, folder: Path) -> None:
        """Ours sees no claim of a volume in these pods, the cluster's does."""
        template = pod_template(1)
        template["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
        asked = job()
        asked["metadata"]["annotations"] = {"pod": "other"}
        write(folder / "foo.yaml", {**foo(), "spec": {"workers": 1, "template": template}})
        with clusters(folder, eu=routes([counting()])) as stubs:
            run("foo.yaml", "--kubeconfig", "config")
            assert stubs["eu"].asked("/api/v1/namespaces/default/persistentvolumeclaims")

    def test_a_hostile_one(self, run: Run, folder: Path) -> None:
        write(folder / "foo.yaml", foo())
        text = (
            '{"kind":"KartaList","apiVersion":"run.ai/v1alpha1","metadata":{},"items":[{"metadata":{"name":"a"},"spec":'
        )
        nested = reply(f"{text}{'[' * 100_000}{']' * 100_000}}}]}}")
        for behaviour in (nested, reply(listing("Karta", counting("env.SECRET"), version="run.ai/v1alpha1"))):
            with clusters(folder, eu=routes(behaviour)):
                ran = run("foo.yaml", "--kubeconfig", "config")
            assert ran.code == 5, ran.err
            assert "fault of wm-place" not in ran.err

    def test_a_recording_keeps_them(self, run: Run, folder: Path) -> None:
        write(folder / "foo.yaml", foo(2))
        with clusters(folder, eu=routes([counting()])):
            assert run("snapshot", "--kubeconfig", "config", "-o", "eu.json").code == 0
        ran = run("foo.yaml", "--from-snapshot", "eu.json", "-o", "json")
        assert (ran.code, ran.report["workloads"][0]["definition"]["from"]) == (0, "cluster eu")
        assert "foo" in run("definitions", "list", "--from-snapshot", "eu.json", "-o", "name").out.split()

    def test_what_kubectl_recorded_has_them_too(self, run: Run, folder: Path) -> None:
        write(folder / "foo.yaml", foo(2))
        fleet.record(folder, "eu", [*room("h200"), counting()])
        ran = run("foo.yaml", "--from-snapshot", "eu.json", "-o", "json")
        assert (ran.code, ran.report["workloads"][0]["definition"]["from"]) == (0, "cluster eu")

    def test_whatif(self, run: Run, folder: Path) -> None:
        write(folder / "foo.yaml", foo(2))
        with clusters(folder, eu=routes([counting()])):
            ran = run("foo.yaml", "--kubeconfig", "config", "--replicas", "foo=40", "-o", "json")
        assert ran.code == 3
        assert ran.report["base"]["workloads"][0]["choice"]["cluster"] == "eu"


class TestDescribe:
    def test_a_manifest_by_a_clusters_definition_where_one_is_named(self, run: Run, folder: Path) -> None:
        write(folder / "foo.yaml", foo(2))
        with clusters(folder, eu=routes([counting()])) as stubs:
            alone = run("describe", "foo.yaml", "--kubeconfig", "config")
            assert alone.code == 5 and stubs["eu"].requests == []
            ran = run("describe", "foo.yaml", "--kubeconfig", "config", "--context", "eu", "-o", "json")
            assert stubs["eu"].asked("/api/v1/nodes") == []
        assert ran.code == 0
        assert ran.report["workloads"][0]["definition"] == {"name": "foo", "from": "cluster eu"}


class TestList:
    def test_those_of_clusters_between_the_users_and_ours(self, run: Run, folder: Path) -> None:
        theirs = ours("batch-job-v1")
        theirs["metadata"]["name"] = "theirs"
        both = {"eu": routes([theirs, counting()]), "us": routes([counting("1")])}
        file = write(folder / "mine.yaml", definition("BarJob"))
        with clusters(folder, **both):
            asked = ["--kubeconfig", "config", "--context", "eu", "--context", "us", "--definition", file]
            report = run("definitions", "list", *asked, "-o", "json").report["definitions"]
            shown = run("definitions", "show", "foojob", "--kubeconfig", "config", "--all-contexts")
        names = [(one["name"], one["from"]) for one in report[:4]]
        assert names == [
            ("bar", f"file {file}"),
            ("foo", "cluster eu"),
            ("theirs", "cluster eu"),
            ("foo", "cluster us"),
        ]
        by = {(one["name"], one["from"]): one for one in report}
        assert by["batch-job-v1", "builtin"]["overriddenBy"] == "cluster eu"
        assert by["foo", "cluster us"]["overriddenBy"] == "cluster eu"
        assert by["foo", "cluster eu"]["differsIn"] == ["us"]
        assert yaml.safe_load(shown.out)["metadata"] == {"name": "foo"}

    def test_without_a_flag_no_cluster_is_asked(self, run: Run, folder: Path) -> None:
        with clusters(folder, eu=routes([counting()])) as stubs:
            assert "foo" not in run("definitions", "list", "-o", "name").out.split()
            assert stubs["eu"].requests == []

    def test_one_of_other_components_is_not_used(self, run: Run, folder: Path) -> None:
        theirs = ours("batch-job-v1")
        theirs["spec"]["structureDefinition"]["rootComponent"]["name"] = "other"
        theirs["spec"]["optimizationInstructions"] = {}
        with clusters(folder, eu=routes([theirs])):
            report = run("definitions", "list", "--kubeconfig", "config", "--context", "eu", "-o", "json").report
        assert report["definitions"][0]["overriddenBy"] == "builtin"

    def test_what_cannot_be_read_is_a_warning(self, run: Run, folder: Path) -> None:
        with clusters(folder, eu=routes(status(403, "Forbidden")), us=routes([])):
            asked = ["definitions", "list", "--kubeconfig", "config", "--all-contexts", "-o", "name"]
            quiet, loud = run(*asked), run(*asked, "-v")
        assert quiet.code == 0
        assert quiet.err.startswith("warning: definitions of cluster eu are not known: may not list kartas")
        assert "cluster us" not in quiet.err
        assert "note: cluster us has no definitions" in loud.err

    def test_a_cluster_that_does_not_answer(self, run: Run, folder: Path) -> None:
        live.kubeconfig(folder / "config", {"eu": "http://127.0.0.1:9"})
        ran = run("definitions", "list", "--kubeconfig", "config", "--context", "eu", "-o", "name")
        assert ran.code == 0 and ran.err.count("warning: definitions of cluster eu are not known") == 1


def test_upstreams_own_leave_every_answer_of_ours_as_it_is(run: Run, folder: Path) -> None:
    """A JobSet where upstream's path gives an error, since a default is left out."""
    theirs = ours("jobset-x-k8s-io-jobset-v1alpha2")
    (component,) = theirs["spec"]["structureDefinition"]["childComponents"]
    component["scaleDefinition"]["replicasPath"] = ".spec.replicatedJobs[] | .replicas * .template.spec.parallelism"
    asked = jobset()
    for one in asked["spec"]["replicatedJobs"]:
        del one["template"]["spec"]["parallelism"], one["template"]["spec"]["completions"]
    write(folder / "jobset.yaml", asked)
    with clusters(folder, eu=routes([theirs])):
        ran = run("jobset.yaml", "--kubeconfig", "config", "-o", "json")
    assert ran.code == 0
    assert ran.report["workloads"][0]["definition"]["from"] == "cluster eu"
    assert [role["replicas"] for role in ran.report["workloads"][0]["roles"]] == [1, 1]
