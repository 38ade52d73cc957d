"""Definitions in real API servers: upstream's own CRDs, under the new name and the old one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests import corpus
from tests.cli import fleet, tutorial
from tests.cli.conftest import Run
from tests.kube.objects import Object
from tests.servers.pool import Servers

pytestmark = [pytest.mark.servers, pytest.mark.corpus, corpus.needed]
CRDS = corpus.FOLDER / "definitions/crd"
KARTAS, OLD = CRDS / "run.ai_kartas.yaml", CRDS / "optimization.nvidia.com_resourceinterfaces.yaml"


@pytest.fixture(autouse=True)
def files(folder: Path) -> dict[str, Path]:
    return tutorial.files(folder)


def of_the_page() -> Object:
    """The tutorial's definition, as a cluster takes it."""
    found: Object = next(yaml.safe_load_all(Path("definition.yaml").read_text()))
    return found


def test_a_cluster_teaches_a_kind_to_all_of_its_users(run: Run, servers: Servers, files: dict[str, Path]) -> None:
    clusters = servers.fleet("eu", "us")
    for one in clusters:
        one.install(files["crd.yaml"])
        one.load([*fleet.room("h200"), fleet.namespace("team")])
    asked = ["gridjob.yaml", "--kubeconfig", clusters.kubeconfig, "-o", "json"]
    assert run(*asked).code == 5
    clusters["us"].install(KARTAS)
    clusters["us"].create(of_the_page())
    ran = run(*asked)
    assert (ran.code, ran.report["workloads"][0]["definition"]["from"]) == (0, "cluster us")
    assert [role["replicas"] for role in ran.report["workloads"][0]["roles"]] == [1, 6]
    listed = run("definitions", "list", "--kubeconfig", clusters.kubeconfig, "--all-contexts", "-o", "json")
    assert listed.report["definitions"][0]["from"] == "cluster us"
    assert run("describe", "gridjob.yaml", "--kubeconfig", clusters.kubeconfig, "--context", "us").code == 0
    assert run("describe", "gridjob.yaml", "--kubeconfig", clusters.kubeconfig, "--context", "eu").code == 5


def test_a_live_object_is_read_by_its_clusters_definition(run: Run, servers: Servers, files: dict[str, Path]) -> None:
    server = servers.server("eu")
    server.install(files["crd.yaml"], OLD)
    server.load([fleet.namespace("team")])
    server.create(yaml.safe_load(files["gridjob.yaml"].read_text()))
    old = {**of_the_page(), "apiVersion": "optimization.nvidia.com/v1alpha1", "kind": "ResourceInterface"}
    server.create(old)
    ran = run("describe", "gridjob/weather", "-n", "team", "--kubeconfig", server.admin_kubeconfig, "-o", "json")
    assert (ran.code, ran.report["workloads"][0]["definition"]["from"]) == (0, "cluster eu")
    assert "ResourceInterface is the old name of this kind" in ran.err


def test_without_the_right_to_list_them_ours_are_used(run: Run, servers: Servers, folder: Path) -> None:
    server = servers.server("eu")
    server.install(KARTAS)
    server.load(fleet.room("h200"))
    blind = server.token_user("blind", without=("kartas",)).kubeconfig
    fleet.write(folder / "job.yaml", fleet.job())
    ran = run("job.yaml", "--kubeconfig", blind, "-o", "json")
    assert ran.code == 0
    gaps = ran.report["workloads"][0]["clusters"][0]["gaps"]
    assert [(gap["what"], gap["why"]) for gap in gaps] == [("kartas", "forbidden")]
    listed = run("definitions", "list", "--kubeconfig", blind, "--context", "eu")
    assert listed.code == 0 and "definitions of cluster eu are not known: may not list kartas" in listed.err


def test_upstreams_own_change_no_answer_of_ours(run: Run, servers: Servers) -> None:
    """All that the catalogue of upstream has, on a server, beside manifests of the kinds that every server knows."""
    server = servers.server("eu")
    server.install(KARTAS)
    server.load(fleet.room("h200"))
    for path in sorted((corpus.FOLDER / "definitions").glob("*.yaml")):
        definition = corpus.data(path)
        definition.pop("status", None)
        server.create(definition)
    by_cluster = 0
    for name in ("deployment", "statefulset", "job", "cronjob", "pod"):
        for path in corpus.expected(name):
            manifest = path.with_name(path.name.replace(".expected.", "."))
            before = run("describe", manifest, "-o", "json")
            if before.out:
                door = ["--kubeconfig", server.reader_kubeconfig, "--context", "eu"]
                after = run("describe", manifest, *door, "-o", "json")
                roles = [[one["roles"] for one in ran.report["workloads"]] for ran in (before, after)]
                assert (before.code, roles[0]) == (after.code, roles[1]), manifest
                by_cluster += '"from": "cluster eu"' in after.out
    assert by_cluster > 20


def test_why_a_clusters_definition_is_not_used_is_said_of_a_live_object(
    run: Run, servers: Servers, files: dict[str, Path]
) -> None:
    server = servers.server("eu")
    server.install(files["crd.yaml"], KARTAS)
    server.load([fleet.namespace("team")])
    server.create(yaml.safe_load(files["gridjob.yaml"].read_text()))
    broken = of_the_page()
    broken["spec"]["structureDefinition"]["childComponents"][1]["scaleDefinition"]["replicasPath"] = ".spec["
    server.create(broken)
    ran = run("describe", "gridjob/weather", "-n", "team", "--kubeconfig", server.admin_kubeconfig)
    assert ran.code == 2 and "no definition for GridJob" in ran.err
    assert "warning: cluster eu, Karta grid-example-com-gridjob-v1" in ran.err and "[ is not closed" in ran.err
