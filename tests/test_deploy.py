"""The manifests under deploy/ fit the program: kinds of the catalogue, kinds that are read, paths that exist."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor import cli, files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.definitions.shipped import builtin_folder
from advisor.kube import schema as cluster_schema
from advisor.kube.conversation import Needs
from advisor.kube.kinds import Kind
from advisor.server import schema
from advisor.server.http import MARGIN

FOLDER = Path(__file__).parents[1] / "deploy" / "manifests"
Object = dict[str, Any]
CHILDREN = {("", "pods"), ("apps", "replicasets")}
"""Never asked about: a controller made them, and its object was."""


def objects() -> Iterator[Object]:
    for path in sorted(FOLDER.glob("*.yaml")):
        yield from (found for found in yaml.safe_load_all(path.read_text()) if found["kind"] != "Kustomization")


def one(kind: str, name: str = "") -> Object:
    (found,) = [found for found in objects() if found["kind"] == kind and name in ("", found["metadata"]["name"])]
    return found


def plural(kind: str) -> str:
    """The resource of a kind, as every CRD so far names it."""
    return f"{kind.lower()}{'es' if kind[-1] in 'sx' else 's'}"


def scaled() -> Iterator[tuple[str, str]]:
    for entry in Catalog().entries:
        found = Catalog().find(f"{entry.kind.group}/{entry.kind.version}".lstrip("/"), entry.kind.kind)
        profile = reading.profile_of(found) if found else None
        if profile and profile.spec.scaled:
            yield entry.kind.group, plural(entry.kind.kind)


SCALED = set(scaled()) - CHILDREN
"""Kinds of the catalogue with a subresource `scale`."""


WEBHOOKS: list[Object] = one("ValidatingWebhookConfiguration")["webhooks"]


def asked(webhook: Object) -> set[tuple[str, str]]:
    return {(g, r) for rule in webhook["rules"] for g in rule["apiGroups"] for r in rule["resources"]}


@pytest.mark.parametrize("webhook", WEBHOOKS, ids=lambda webhook: str(webhook["name"]))
class TestWebhook:
    def test_every_kind_of_the_catalogue_is_asked_about_and_no_child(self, webhook: Object) -> None:
        kinds = {entry.kind for entry in Catalog().entries}
        known = {(kind.group, plural(kind.kind)) for kind in kinds}
        sizes = {(group, f"{resource}/scale") for group, resource in SCALED}
        assert asked(webhook) == (known - CHILDREN) | sizes

    def test_it_cannot_keep_anybody_from_working(self, webhook: Object) -> None:
        assert (webhook["failurePolicy"], webhook["sideEffects"]) == ("Ignore", "NoneOnDryRun")
        deadline = schema.server_config(configuration("server.yaml")).deadline
        assert deadline + MARGIN < webhook["timeoutSeconds"] <= 5

    def test_the_system_is_left_alone(self, webhook: Object) -> None:
        expressions = webhook["namespaceSelector"]["matchExpressions"]
        (names,) = [one["values"] for one in expressions if one["key"] == "kubernetes.io/metadata.name"]
        assert {"kube-system", "wm-place"} <= set(names)
        assert all({"CREATE", "UPDATE", "DELETE"} == set(rule["operations"]) for rule in webhook["rules"])
        assert {resource.partition("/")[2] for _, resource in asked(webhook)} == {"", "scale"}


def test_each_namespace_is_asked_about_once() -> None:
    label = "wm-place.io/enforce"
    chosen = {
        webhook["clientConfig"]["service"]["path"]: next(
            (one["operator"], one["values"])
            for one in webhook["namespaceSelector"]["matchExpressions"]
            if one["key"] == label
        )
        for webhook in WEBHOOKS
    }
    assert chosen == {"/v1/review/advise": ("NotIn", ["true"]), "/v1/review/enforce": ("In", ["true"])}


def test_the_role_allows_what_is_read_and_nothing_else() -> None:
    rules = one("ClusterRole", "wm-place-reader")["rules"]
    allowed = {(group, resource) for rule in rules for group in rule["apiGroups"] for resource in rule["resources"]}
    (referred,) = files.documents(files.read(str(builtin_folder() / "references.yaml")))
    assert allowed == {place(kind) for kind in Needs().kinds} | {
        (k["group"], k["plural"]) for k in referred.data["kinds"]
    }
    assert all(rule["verbs"] == ["get", "list"] for rule in rules)


def test_of_the_management_cluster_only_what_is_scaled_may_be_looked_at() -> None:
    rules = one("ClusterRole", "wm-place-hub")["rules"]
    assert {(group, one) for rule in rules for group in rule["apiGroups"] for one in rule["resources"]} == SCALED
    assert all(rule["verbs"] == ["get"] for rule in rules)


def place(kind: Kind) -> tuple[str, str]:
    return kind.group, kind.plural


def configuration(name: str) -> files.Document:
    (document,) = files.documents(files.Source(name, one("ConfigMap")["data"][name]))
    return document


def test_the_configuration_can_be_used_and_fits_the_deployment() -> None:
    found = schema.server_config(configuration("server.yaml"))
    clusters = cluster_schema.cluster_file(configuration("clusters.yaml")).clusters
    (container,) = one("Deployment")["spec"]["template"]["spec"]["containers"]
    mounts = tuple(mount["mountPath"] for mount in container["volumeMounts"])
    paths = [found.certificate, found.key, *(entry.kubeconfig for entry in clusters)]
    assert all(str(path).startswith(mounts) for path in paths)
    assert container["ports"][0]["containerPort"] == found.port


def test_every_manifest_is_part_of_the_whole() -> None:
    whole = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    assert sorted([*whole, "kustomization.yaml"]) == sorted(path.name for path in FOLDER.glob("*.yaml"))


# -- the image --------------------------------------------------------------------------------------------------------

ROOT = FOLDER.parents[1]


def lines(word: str) -> list[list[str]]:
    """The arguments of an instruction of the Dockerfile, wherever it stands."""
    found = (line.split() for line in (ROOT / "deploy" / "Dockerfile").read_text().splitlines())
    return [words[1:] for words in found if words[:1] == [word]]


def test_the_image_is_built_from_what_is_copied_by_name(tmp_path: Path) -> None:
    """As its builder does it: nothing but these files is there, and nothing is fetched."""
    for *sources, target in (words for words in lines("COPY") if not words[0].startswith("--from")):
        for source in sources:
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, tmp_path / target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, tmp_path / target)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "made", "."]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    (wheel,) = (tmp_path / "made").glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        f"advisor/catalog/{path.relative_to(ROOT / 'catalog')}" for path in (ROOT / "catalog").rglob("*.*")
    } <= names
    assert {str(path.relative_to(ROOT)) for path in (ROOT / "advisor").rglob("*.json")} <= names


def test_the_image_runs_as_the_deployment_has_it() -> None:
    spec = one("Deployment")["spec"]["template"]["spec"]
    user = spec["securityContext"]
    assert lines("USER") == [[f"{user['runAsUser']}:{user['runAsGroup']}"]]
    (entry,) = lines("ENTRYPOINT")
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert json.loads(" ".join(entry))[0] in scripts
    (container,) = spec["containers"]
    assert container["args"][0] in cli.cli.commands
