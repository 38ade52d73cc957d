"""Which definition is used for a kind (definitions.md 11), and what a broken one does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor import files
from advisor.definitions import catalog, layers
from advisor.definitions.catalog import Builtin, Catalog
from advisor.definitions.engine import TRUSTED
from advisor.definitions.layers import BUILTIN, Layer
from advisor.definitions.sandbox import SANDBOX
from advisor.definitions.shipped import builtin_folder
from advisor.definitions.versions import distance
from advisor.errors import InputError
from tests.definitions.builders import Definitions, karta

THINGS = {"group": "example.com", "kind": "Thing", "versions": ["v1", "v2", "v3", "v1beta1"]}
PROFILE = {"apiVersion": "wm-place/v1", "kind": "PlacementProfile", "spec": {"for": THINGS}}


def thing(version: str = "v1", name: str = "thing", group: str = "example.com") -> dict[str, Any]:
    return karta(f"{{name: {name}, kind: {{group: {group}, version: {version}, kind: Thing}}}}")


def write(path: Path, *documents: Any) -> str:
    path.write_text("\n---\n".join(json.dumps(document) for document in documents))
    return str(path)


def builtin(tmp_path: Path, **stems: list[dict[str, Any]]) -> Builtin:
    folder = tmp_path / "builtin"
    folder.mkdir()
    for stem, documents in stems.items():
        write(folder / f"{stem.replace('_', '-')}.yaml", *documents)
    return Builtin(folder)


def used(*above: Layer, own: Builtin, api_version: str = "example.com/v1") -> tuple[str, str]:
    found = Catalog(above, own).find(api_version, "Thing")
    assert found
    return found.entry.definition.root.name, found.entry.origin.kind


def test_a_file_wins_over_a_folder_over_a_cluster_over_our_own(tmp_path: Path) -> None:
    own = builtin(tmp_path, example_com_thing_v1=[thing(name="ours")])
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder" / "any.yaml", thing(name="folders"))
    file = layers.from_files([write(tmp_path / "file.json", thing(name="files"))])
    folder = layers.from_folder(str(tmp_path / "folder"))
    east, west = (layers.from_cluster(name, [thing(name=name)]) for name in ("east", "west"))
    assert used(file, folder, east, own=own) == ("files", "file")
    assert used(folder, east, own=own) == ("folders", "folder")
    assert used(east, west, own=own) == ("east", "cluster")
    assert used(own=own) == ("ours", "builtin")
    found = Catalog([folder, east, west], own).find("example.com/v1", "Thing")
    assert found
    assert [str(entry.origin) for entry in found.others] == ["cluster east", "cluster west", "builtin"]


def test_precedence_is_for_each_version_and_an_exact_one_wins(tmp_path: Path) -> None:
    own = builtin(tmp_path, example_com_thing_v1=[thing("v1", "ours")])
    other = layers.from_cluster("east", [thing("v1beta1", "theirs")])
    assert used(other, own=own) == ("ours", "builtin")
    assert used(other, own=own, api_version="example.com/v1beta1") == ("theirs", "cluster")
    assert used(other, own=own, api_version="example.com/v1alpha1") == ("theirs", "cluster")


@pytest.mark.parametrize(
    ("known", "wanted", "nearest"),
    [
        (["v1", "v1beta1"], "v1", "v1"),
        (["v1", "v1beta1", "v1alpha1"], "v1beta2", "v1beta1"),
        (["v1", "v1alpha1"], "v1beta1", "v1"),  # equally near: the more mature
        (["v1", "v2beta1"], "v2", "v2beta1"),
        (["v1", "v3"], "v2", "v3"),
        (["v1beta1", "v1beta4"], "v1beta3", "v1beta4"),
        (["odd", "v1"], "v2", "v1"),
        (["odd"], "v2", "odd"),
    ],
)
def test_the_nearest_version(known: list[str], wanted: str, nearest: str) -> None:
    assert min(known, key=lambda version: distance(version, wanted)) == nearest


def test_another_version_is_used_with_a_note_and_another_group_never(tmp_path: Path) -> None:
    own = builtin(tmp_path, example_com_thing_v1=[thing()], example_org_thing_v1=[thing(group="example.org")])
    found = Catalog((), own).find("example.com/v2", "Thing")
    assert found
    assert found.note == "read with the definition for example.com/v1 Thing; fields may have other places in v2"
    exact = Catalog((), own).find("example.com/v1", "Thing")
    assert exact and not exact.note
    for api_version, kind in (("example.net/v1", "Thing"), ("v1", "Thing"), ("example.com/v1", "Other")):
        assert Catalog((), own).find(api_version, kind) is None


def test_two_definitions_of_one_origin_are_refused_when_they_are_needed(tmp_path: Path) -> None:
    own = builtin(tmp_path, example_com_thing_v1=[thing(name="ours")])
    twice = layers.from_cluster("east", [thing(), thing(name="other"), thing("v2")])
    found = Catalog([twice], own)
    assert found.find("example.com/v2", "Thing")
    with pytest.raises(InputError, match=r"example\.com/v1 Thing has 2 definitions") as raised:
        found.find("example.com/v1", "Thing")
    assert raised.value.faults[0].code == "ambiguous"
    one = layers.from_files([write(tmp_path / "one.yaml", thing(name="files"))])
    assert used(one, twice, own=own) == ("files", "file")


def test_a_broken_file_is_reported_and_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("kind: [\n")
    (tmp_path / "b.yaml").write_text("apiVersion: run.ai/v1alpha1\nkind: Karta\nspec:\n  structureDefinition: {}\n")
    write(tmp_path / "c.yaml", thing(), karta("{scaleDefinition: {replicasPath: '.['}}"))
    (tmp_path / "d.txt").write_text("no definition")
    (tmp_path / "e.yaml").write_text("apiVersion: v1\nkind: ConfigMap\n")
    layer = layers.from_folder(str(tmp_path))
    assert [entry.definition.name for entry in layer.entries] == ["example-com-thing-v1"]
    assert [str(fault).partition("\n")[0].removeprefix(f"{tmp_path}/") for fault in layer.faults] == [
        "a.yaml:2: is not YAML: did not find expected node content",
        "b.yaml:4 spec.structureDefinition.rootComponent: is required",
        "c.yaml:3 spec.structureDefinition.rootComponent.scaleDefinition.replicasPath: [ is not closed",
    ]


@pytest.mark.parametrize("missing", ["files", "folder"])
def test_what_cannot_be_opened_is_a_fault(tmp_path: Path, missing: str) -> None:
    path = str(tmp_path / "none")
    layer = layers.from_folder(path) if missing == "folder" else layers.from_files([path])
    assert [str(fault) for fault in layer.faults] == [f"{path}: cannot be read: No such file or directory"]


def test_lists_of_definitions_are_taken_apart(tmp_path: Path) -> None:
    kinds = [
        ("run.ai/v1alpha1", "KartaList"),
        ("optimization.nvidia.com/v1alpha1", "ResourceInterfaceList"),
        ("v1", "List"),
    ]
    for api_version, kind in kinds:
        items = [thing(), {"kind": "Other"}, thing("v2")]
        layer = layers.from_files(
            [write(tmp_path / "list.yaml", {"apiVersion": api_version, "kind": kind, "items": items})]
        )
        assert [entry.kind.version for entry in layer.entries] == ["v1", "v2"]
        assert layer.entries[1].document.prefix == ("items", 2)


def test_a_fault_of_a_cluster_names_cluster_and_object() -> None:
    layer = layers.from_cluster("east", [karta("{ownerRef: x}")])
    assert [str(fault) for fault in layer.faults] == [
        "cluster east, Karta example-com-thing-v1 spec.structureDefinition.rootComponent.ownerRef: "
        "the root component has no owner"
    ]


def test_a_profile_goes_with_the_definition_before_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.yaml", thing("v1"), PROFILE, thing("v2"), thing("v3"), PROFILE)
    layer = layers.from_files([path])
    documents = [entry.profile_document for entry in layer.entries]
    assert [document and document.number for document in documents] == [1, None, 4]
    assert documents[0] and documents[0].data == PROFILE


def test_the_profile_of_a_broken_definition_goes_nowhere(tmp_path: Path) -> None:
    layer = layers.from_files([write(tmp_path / "a.yaml", thing(), karta("{ownerRef: x}"), PROFILE)])
    assert [entry.profile_document for entry in layer.entries] == [None]
    assert len(layer.faults) == 1


@pytest.mark.parametrize("documents", [[PROFILE], [thing(), PROFILE, PROFILE]])
def test_a_profile_without_a_definition_of_its_own_is_a_fault(tmp_path: Path, documents: list[Any]) -> None:
    (fault,) = layers.from_files([write(tmp_path / "a.yaml", *documents)]).faults
    assert "behind the definition that it belongs to" in fault.message


def test_a_users_definition_keeps_our_profile_unless_it_brings_one(tmp_path: Path) -> None:
    own = builtin(tmp_path, example_com_thing_v1=[thing(), PROFILE])
    bare = layers.from_files([write(tmp_path / "bare.yaml", thing())])
    full = layers.from_files([write(tmp_path / "full.yaml", thing(), PROFILE)])
    for layer, origin in ((bare, "builtin"), (full, "file")):
        found = Catalog([layer], own).find("example.com/v1", "Thing")
        assert found and found.profile
        assert (found.entry.origin.kind, found.profile.origin.kind) == ("file", origin)


def test_only_our_own_definitions_run_in_this_process() -> None:
    assert BUILTIN.engine is TRUSTED
    others = (layers.from_files([]), layers.from_folder("."), layers.from_cluster("east", []))
    assert all(layer.origin.engine is SANDBOX for layer in others)


def test_our_own_files_are_parsed_when_their_kind_is_asked_for(tmp_path: Path) -> None:
    own = builtin(
        tmp_path, example_com_thing_v1=[thing()], example_com_other_v1=[thing()], accelerators=[{"kind": "x"}]
    )
    (own.folder / "example-com-broken-v1.yaml").write_text("kind: [\n")
    found = Catalog((), own)
    assert found.find("example.com/v1", "Thing")
    assert found.find("example.com/v1", "Other") is None  # the file's name is a convention, its kind decides
    with pytest.raises(InputError, match="is not YAML"):
        found.find("example.com/v1", "Broken")
    with pytest.raises(InputError, match="is not YAML"):
        _ = found.entries


def test_our_catalogue_lies_beside_the_package_or_inside_it() -> None:
    package = Path(catalog.__file__).parents[1]
    assert builtin_folder() in (package / "catalog", package.parent / "catalog")
    assert builtin_folder().is_dir()


@pytest.mark.corpus
def test_every_upstream_file_is_found_by_its_name(corpus: Path, catalogue: Definitions) -> None:
    found = Catalog((), Builtin(corpus / "definitions"))
    for (api_version, kind), definition in catalogue.items():
        exact = found.find(api_version, kind)
        assert exact and exact.entry.definition == definition
        assert not exact.note
    assert len(found.entries) == 23


def test_the_warnings_of_a_definition_have_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(files.dump({**thing(), "extra": 1}))
    (entry,) = layers.from_files([str(path)]).entries
    line = path.read_text().split("\n").index("extra: 1") + 1
    message = "is not a field of a definition and is left out"
    assert [str(fault) for fault in entry.warnings] == [f"{path}:{line} extra: {message}"]


def test_a_definition_whose_profile_is_broken_is_left_out_whole(tmp_path: Path) -> None:
    """By itself it would count other pods, and nobody would know."""
    own = builtin(tmp_path, example_com_thing_v1=[thing(name="ours")])
    (tmp_path / "folder").mkdir()
    path = write(
        tmp_path / "folder" / "any.yaml", thing(name="theirs"), {**PROFILE, "spec": {"for": THINGS, "prepare": "env"}}
    )
    layer = layers.from_folder(str(tmp_path / "folder"))
    assert used(layer, own=own) == ("ours", "builtin")
    (fault,) = layer.faults
    assert fault.where and fault.where.file == path
    assert (fault.path, fault.message) == (("spec", "prepare"), "env reaches outside the object")
    sound = layers.from_files(
        [write(tmp_path / "sound.yaml", thing(name="theirs"), {**PROFILE, "spec": {"for": THINGS, "prepare": "."}})]
    )
    assert used(sound, own=own) == ("theirs", "file")


@pytest.mark.parametrize(
    "broken", [("1) | (2", "3"), ("(1", "2)"), ("1 # (", "2 |"), ("if true then 1", "2 else 3 end")]
)
def test_expressions_that_are_only_right_together_are_faults(tmp_path: Path, broken: tuple[str, str]) -> None:
    """Those of one profile are compiled in one program."""
    spec = {"for": THINGS, "prepare": broken[0], "requires": broken[1]}
    layer = layers.from_files([write(tmp_path / "any.yaml", thing(), {**PROFILE, "spec": spec})])
    assert layer.entries == ()
    assert {fault.path for fault in layer.faults} <= {("spec", "prepare"), ("spec", "requires")}
    assert layer.faults
