"""Other objects that a workload's pods depend on (definitions.md 10, 14.2 d): where they are found, what is bound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor import files
from advisor.definitions import layers, reading, references
from advisor.definitions.catalog import Builtin, Catalog
from advisor.definitions.reading import Reading
from advisor.definitions.references import Held
from advisor.files import Document
from advisor.workload import Missing, Reference, Workload
from tests.definitions.builders import karta, yaml

Object = dict[str, Any]


def thing(namespace: str | None = "team", **spec: Any) -> Object:
    """A workload of example.com whose pods are those of the runtime that it names."""
    metadata = {"name": "one", **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": metadata, "spec": {"runtime": "small", **spec}}


def runtime(name: str = "small", pods: Any = 2, kind: str = "Runtime", **metadata: str) -> Object:
    """Holds a pod template, as no kind with a definition does."""
    template = {"spec": {"containers": [{"name": "main", "image": "x", "resources": {"limits": {"cpu": 1}}}]}}
    return {
        "apiVersion": "example.com/v1",
        "kind": kind,
        "metadata": {"name": name, **metadata},
        "spec": {"pods": pods, "template": template},
    }


FIND = '{group: "example.com", kind: "Runtime", name: .spec.runtime, at: ["spec", "runtime"]}'
ROLE = {"added": "main", "replicas": "$refs.runtime.spec.pods", "template": "$refs.runtime.spec.template"}


def catalog(folder: Path, refs: Object | None = None, **spec: Any) -> Catalog:
    """The kind, with references and what else a profile says of it."""
    profile = {
        "apiVersion": "wm-place/v1",
        "kind": "PlacementProfile",
        "spec": {
            "for": {"group": "example.com", "kind": "Thing", "versions": ["v1"]},
            "references": refs or {"runtime": {"find": FIND}},
            "roles": [ROLE],
            **spec,
        },
    }
    path = folder / "thing.yaml"
    path.write_text(f"{json.dumps(karta())}\n---\n{json.dumps(profile)}\n")
    return Catalog([layers.from_files([str(path)])], Builtin(folder / "none"))


def documents(*objects: Object, name: str = "things.yaml") -> list[Document]:
    return files.documents(files.Source(name, "\n---\n".join(map(json.dumps, objects))))


def read(known: Catalog, *objects: Object, beside: tuple[Object, ...] = ()) -> Reading:
    return reading.read(documents(*objects), known, further=documents(*beside, name="beside.yaml"))


def only(known: Catalog, *objects: Object, beside: tuple[Object, ...] = ()) -> Workload:
    (workload,) = read(known, *objects, beside=beside).workloads
    assert not workload.faults
    return workload


def test_an_object_of_the_same_files(tmp_path: Path) -> None:
    found = read(catalog(tmp_path), thing(), runtime())
    (workload,) = found.workloads
    assert [(role.name, role.replicas) for role in workload.roles] == [("main", 2)]
    assert workload.missing == ()
    assert workload.references == (Reference("example.com", "Runtime", "small"),)
    assert ("reference", "is Runtime small of things.yaml:3", "spec.runtime") in [
        (note.rule, note.text, note.path) for note in workload.notes
    ]
    assert found.missing == ()  # it holds pods and is no workload: somebody refers to it
    assert found.passed_over == {"Runtime": 1}


def test_an_object_that_nobody_refers_to_is_still_a_kind_without_a_definition(tmp_path: Path) -> None:
    (fault,) = read(catalog(tmp_path), runtime()).missing
    assert fault.code == "no-definition"


def test_an_object_of_other_files_is_no_workload_of_its_own(tmp_path: Path) -> None:
    known = catalog(tmp_path)
    found = read(known, thing(), beside=(runtime(), thing("other"), runtime("unused")))
    assert [(one.title, one.pods) for one in found.workloads] == [("Thing team/one", 2)]
    assert (found.missing, found.passed_over) == ((), {})
    assert only(known, thing(), runtime(pods=3), beside=(runtime(pods=4),)).pods == 3
    assert only(known, thing(), runtime(pods=3), runtime(pods=4)).pods == 4  # as with kubectl apply


@pytest.mark.parametrize(
    ("stated", "workload", "found"),
    [("team", "team", True), (None, "team", True), ("other", "team", False), ("other", "other", True)],
)
def test_without_a_namespace_it_is_of_the_cluster_or_the_workloads_own(
    tmp_path: Path, stated: str | None, workload: str, found: bool
) -> None:
    metadata = {"namespace": stated} if stated else {}
    assert only(catalog(tmp_path), thing(workload), runtime(**metadata)).is_open != found


@pytest.mark.parametrize(
    ("stated", "workload", "found"),
    [("team", "team", True), (None, "team", False), (None, None, True), ("default", None, True), ("team", None, False)],
)
def test_with_a_namespace_the_objects_own_is_known_too(
    tmp_path: Path, stated: str | None, workload: str | None, found: bool
) -> None:
    rules = {"runtime": {"find": FIND.replace("kind:", "namespace: $namespace, kind:")}}
    metadata = {"namespace": stated} if stated else {}
    assert only(catalog(tmp_path, rules), thing(workload), runtime(**metadata)).is_open != found


@pytest.mark.parametrize(
    "other",
    [
        (),
        (runtime("large"),),
        (runtime(kind="Walktime"),),
        ({**runtime(), "apiVersion": "example.org/v1"},),
        ({**runtime(), "metadata": None},),
        ({**runtime(), "metadata": {"name": 3}},),
    ],
    ids=["nothing", "name", "kind", "group", "no metadata", "no name"],
)
def test_what_is_needed_and_not_found_leaves_the_pods_open(tmp_path: Path, other: tuple[Object, ...]) -> None:
    workload = only(catalog(tmp_path), thing(), beside=other)
    assert (workload.roles, workload.groups, workload.is_open) == ((), (), True)
    (missing,) = workload.missing
    assert (missing.title, missing.required, missing.absent) == ("Runtime small", True, False)
    fault = missing.fault
    assert fault.code == "missing-reference"
    assert str(fault) == (
        "things.yaml:1 spec.runtime: its pods depend on Runtime small, which is not in the files\n"
        "    name the file that holds it: --with FILE"
    )


def test_the_first_of_several_and_all_of_them_are_named_when_none_is_there(tmp_path: Path) -> None:
    find = f'{FIND}, {{group: "example.com", kind: "ClusterRuntime", name: .spec.runtime}}'
    known = catalog(tmp_path, {"runtime": {"find": find}})
    assert only(known, thing(), runtime(kind="ClusterRuntime", pods=3), runtime(pods=2)).pods == 2
    assert only(known, thing(), runtime(kind="ClusterRuntime", pods=3)).pods == 3
    (missing,) = only(known, thing()).missing
    assert missing.title == "Runtime small or ClusterRuntime small"


EACH = {"parts": {"find": '.spec.parts[]? | {group: "example.com", kind: "Runtime", name: .}', "pick": "each"}}
SUM = {**ROLE, "replicas": "[$refs.parts[] | .spec.pods // 10] | add // 0", "template": ".spec.template"}
TEMPLATE = runtime()["spec"]["template"]


def test_each_of_a_list_in_its_order(tmp_path: Path) -> None:
    role = {**SUM, "replicas": "$refs.parts | .[0].spec.pods * 10 + .[1].spec.pods"}
    known = catalog(tmp_path, EACH, roles=[role])
    asked = thing(parts=["b", "a"], template=TEMPLATE)
    assert only(known, asked, runtime("a", 1), runtime("b", 2)).pods == 21
    workload = only(known, asked, runtime("a", 1))
    assert [missing.title for missing in workload.missing] == ["Runtime b"]
    assert workload.is_open


PLACES = '.spec.runtimes[] | {group: "example.com", kind: "Runtime", name: .} | [., . + {namespace: "shared"}]'


def test_each_may_be_in_several_places_of_which_the_first_counts(tmp_path: Path) -> None:
    role = {**ROLE, "replicas": "[$refs.runtimes[].spec.pods] | add", "template": "$refs.runtimes[0].spec.template"}
    known = catalog(tmp_path, {"runtimes": {"find": PLACES, "pick": "each"}}, roles=[role])
    shared = runtime("b", pods=4, namespace="shared")
    others = (runtime("a", pods=1, namespace="team"), runtime("a", pods=9, namespace="shared"), shared)
    assert only(known, thing(runtimes=["a", "b"]), beside=others).pods == 5
    (missing,) = only(known, thing(runtimes=["a", "c"]), beside=others).missing
    assert missing.title == "Runtime c or Runtime shared/c"


def guessing(folder: Path) -> Catalog:
    role = {**ROLE, "replicas": "$refs.runtime.spec.pods // 1", "template": GUESS}
    return catalog(folder, {"runtime": {"find": FIND, "guessed": True}}, roles=[role])


GUESS = '$refs.runtime.spec.template // {spec: {containers: [{name: "main", image: "x"}]}}'


def test_what_is_usual_stands_in_for_what_is_not_found(tmp_path: Path) -> None:
    workload = only(guessing(tmp_path), thing())
    assert workload.pods == 1
    assert not workload.lacking
    (missing,) = workload.missing
    assert (missing.required, missing.guessed, missing.absent) == (True, True, False)
    (note,) = [note for note in workload.notes if note.rule == "missing-reference"]
    assert note.warns
    assert note.text == "Runtime small was not found, its pods are those that are usual"


def test_what_is_usual_stands_in_only_where_there_is_something_usual(tmp_path: Path) -> None:
    role = {**ROLE, "replicas": "$refs.runtime.spec.pods // 1", "template": GUESS}
    known = catalog(tmp_path, {"runtime": {"find": FIND, "guessed": '.spec.runtime == "usual"'}}, roles=[role])
    usual = only(known, thing(runtime="usual"))
    assert (usual.pods, usual.is_open) == (1, False)
    other = only(known, thing(runtime="rare"))
    assert (other.pods, other.is_open) == (0, True)
    assert [missing.fault.code for missing in other.lacking] == ["missing-reference"]
    assert [note for note in other.notes if note.rule == "missing-reference"] == []
    assert only(known, thing(runtime="rare"), runtime("rare")).pods == 2


def test_nothing_stands_in_for_what_is_found(tmp_path: Path) -> None:
    workload = only(guessing(tmp_path), thing(), runtime())
    assert (workload.pods, workload.missing) == (2, ())


def test_only_what_is_required_can_be_guessed(tmp_path: Path) -> None:
    known = catalog(tmp_path, {"runtime": {"find": FIND, "guessed": True, "required": False}})
    assert [fault.message for fault in known.faults] == ["only what is required can be guessed"]


def test_what_is_not_needed_and_not_found_is_null_and_said(tmp_path: Path) -> None:
    known = catalog(tmp_path, {"parts": {**EACH["parts"], "required": False}}, roles=[SUM])
    workload = only(known, thing(parts=["a", "b"], template=TEMPLATE), runtime("b", 2))
    assert workload.pods == 12
    assert [(one.title, one.required, one.absent) for one in workload.missing] == [("Runtime a", False, False)]
    assert not workload.is_open
    assert ("missing-reference", "Runtime a was not found, and is taken not to be there") in [
        (note.rule, note.text) for note in workload.notes
    ]


def test_what_is_not_looked_for_is_not_missing(tmp_path: Path) -> None:
    role = {**SUM, "replicas": "$refs.parts | length + 1"}
    assert only(catalog(tmp_path, EACH, roles=[role]), thing(template=TEMPLATE)).missing == ()


def test_all_of_a_kind(tmp_path: Path) -> None:
    rules = {"parts": {"find": '{group: "example.com", kind: "Runtime"}', "pick": "all", "required": False}}
    known = catalog(tmp_path, rules, roles=[{**SUM, "replicas": "[$refs.parts[].spec.pods] | add // 7"}])
    asked = thing(template=TEMPLATE)
    workload = only(known, asked, runtime("a", 1), runtime("b", 2, namespace="other"), beside=(runtime("c", 4),))
    assert workload.pods == 5
    assert [one.title for one in workload.missing] == ["any other Runtime"]  # a cluster may have more
    (note,) = [note.text for note in workload.notes if note.rule == "missing-reference"]
    assert note == "any other Runtime was not looked up, and is taken not to be there"
    assert only(known, asked).pods == 7


SOME = {
    "find": '{group: "example.com", kind: "Runtime"}',
    "pick": "all",
    "where": ".spec.pods >= $object.spec.least",
    "that": "is large enough",
}


def test_of_all_of_a_kind_only_those_that_are_meant(tmp_path: Path) -> None:
    known = catalog(tmp_path, {"parts": SOME}, roles=[{**SUM, "replicas": "[$refs.parts[].spec.pods] | add"}])
    asked = thing(template=TEMPLATE, least=2)
    workload = only(known, asked, runtime("a", 1), runtime("b", 2))
    assert workload.pods == 2
    assert [note.text for note in workload.notes if note.rule == "reference"] == ["is Runtime b of things.yaml:5"]
    assert [one.title for one in workload.missing] == ["any other Runtime that is large enough"]
    (missing,) = only(known, asked, runtime("a", 1)).lacking
    assert (missing.title, missing.none) == (
        "any Runtime that is large enough",
        "Runtime that is large enough",
    )


@pytest.mark.parametrize("wrong", [{"pick": "each"}, {"that": ""}, {"where": None}], ids=str)
def test_a_condition_is_one_of_all_and_has_words(tmp_path: Path, wrong: Object) -> None:
    assert catalog(tmp_path, {"parts": {**SOME, **wrong}}, roles=[SUM]).faults


class TestFromACluster:
    """What a cluster has, as the shell hands it in."""

    WANTED = Reference("example.com", "Runtime", "small", "team")

    def workload(self, known: Catalog, held: Held, *objects: Object) -> Workload:
        (workload,) = reading.read(documents(thing(), *objects), known, in_cluster={self.WANTED: held}).workloads
        return workload

    def test_it_counts_where_the_files_have_none(self, tmp_path: Path) -> None:
        known = catalog(tmp_path)
        for whole in (True, False):
            assert self.workload(known, Held([runtime(pods=5)], whole)).pods == 5
        assert self.workload(known, Held([runtime(pods=5)]), runtime(pods=1)).pods == 1

    @pytest.mark.parametrize("whole", [True, False])
    def test_what_was_looked_up_and_is_not_there_is_absent(self, tmp_path: Path, whole: bool) -> None:
        (missing,) = self.workload(catalog(tmp_path), Held(whole=whole)).missing
        assert (missing.required, missing.absent) == (True, whole)

    def test_what_is_not_needed_and_surely_not_there_is_no_doubt(self, tmp_path: Path) -> None:
        rules = {"runtime": {"find": FIND, "required": False}}
        role = {**ROLE, "replicas": "1", "template": "$refs.runtime.spec.template // .spec.template"}
        known = catalog(tmp_path, rules, roles=[role])
        asked = documents(thing(template=TEMPLATE))
        assert reading.read(asked, known, in_cluster={self.WANTED: Held()}).workloads[0].missing == ()
        wanted = Reference("example.com", "Runtime", "small")
        assert reading.read(asked, known).workloads[0].missing == (
            Missing((wanted,), required=False, path=("spec", "runtime"), where=asked[0].where),
        )

    def test_what_may_be_in_an_earlier_place_stands_before_what_is_in_a_later(self, tmp_path: Path) -> None:
        known = catalog(tmp_path, {"runtime": {"find": f'[{FIND}, {FIND} + {{namespace: "shared"}}]'}})
        later = {Reference("example.com", "Runtime", "small", "shared"): Held([runtime(pods=3, namespace="shared")])}
        for held, pods, missing in (
            ({self.WANTED: Held()}, 3, 0),
            ({self.WANTED: Held(whole=False)}, 3, 0),
            ({}, 0, 1),
            ({self.WANTED: Held([runtime(pods=7)])}, 7, 0),
        ):
            in_cluster = {**held, **later}
            (workload,) = reading.read(documents(thing()), known, in_cluster=in_cluster).workloads
            assert (workload.pods, len(workload.missing)) == (pods, missing)

    def test_a_list_is_that_of_the_files_and_the_cluster(self, tmp_path: Path) -> None:
        rules = {"parts": {"find": '{group: "example.com", kind: "Runtime"}', "pick": "all"}}
        known = catalog(tmp_path, rules, roles=[{**SUM, "replicas": "[$refs.parts[].spec.pods] | add"}])
        every = Reference("example.com", "Runtime", "", "team")
        asked = documents(thing(template=TEMPLATE), runtime("a", 1))
        held = Held([runtime("a", 50), runtime("b", 2)])
        (workload,) = reading.read(asked, known, in_cluster={every: held}).workloads
        assert (workload.pods, workload.missing) == (3, ())


class TestExpressions:
    def test_rules_see_them_and_are_silent_while_they_are_open(self, tmp_path: Path) -> None:
        rule = {"at": ".spec.runtime", "must": "$refs.runtime.spec.pods < 9", "says": "is too large"}
        known = catalog(tmp_path, None, rules=[rule])
        (workload,) = read(known, thing(), runtime(pods=9)).workloads
        assert [str(fault) for fault in workload.faults] == ["things.yaml:1 spec.runtime: is too large"]
        assert only(known, thing(), runtime(pods=8)).pods == 8
        assert only(known, thing()).is_open

    def test_a_rule_tells_better_what_is_wrong_with_what_is_looked_for(self, tmp_path: Path) -> None:
        known = catalog(tmp_path, None, rules=[{"at": ".spec.runtime", "is": "text", "required": True}])
        (workload,) = read(known, thing(runtime=3)).workloads
        assert [fault.message for fault in workload.faults] == ["must be text, not a number"]
        (workload,) = read(catalog(tmp_path), thing(runtime=3)).workloads
        (fault,) = workload.faults
        assert (fault.code, fault.path) == ("unreadable", ("spec",))
        assert fault.message.endswith("a reference gives no name that is text")

    def test_a_later_reference_sees_the_earlier_ones(self, tmp_path: Path) -> None:
        further = '{group: "example.com", kind: "Base", name: $refs.runtime.spec.base}'
        rules = {"runtime": {"find": FIND}, "base": {"find": f"if $refs.runtime then {further} else empty end"}}
        known = catalog(tmp_path, rules, roles=[{**ROLE, "replicas": "$refs.base.spec.pods"}])
        middle = {**runtime(), "spec": {"base": "deep", "template": TEMPLATE}}
        assert only(known, thing(), middle, runtime("deep", 6, kind="Base")).pods == 6
        assert [one.title for one in only(known, thing(), middle).missing] == ["Base deep"]
        assert [one.title for one in only(known, thing()).missing] == ["Runtime small"]

    def test_all_other_expressions_see_them(self, tmp_path: Path) -> None:
        known = catalog(
            tmp_path,
            None,
            prepare=".spec.pods = $refs.runtime.spec.pods",
            roles=[{**ROLE, "replicas": ".spec.pods", "labels": '{"runtime": $refs.runtime.metadata.name}'}],
            gang={"groups": "[{count: 1, members: {main: $refs.runtime.spec.pods}}]"},
            unmodelled='[{path: $refs.runtime.kind, text: "x"}]',
        )
        workload = only(known, thing(), runtime(pods=4.0))  # whole floats are integers, as in the object itself
        assert (workload.pods, dict(workload.groups[0].members)) == (4, {"main": 4})
        assert workload.roles[0].template.labels == (("runtime", "small"),)
        assert [one.path for one in workload.unmodelled] == ["Runtime"]


def test_an_index_of_files_leaves_out_what_is_no_object() -> None:
    held = references.known(documents(yaml("[1]"), runtime()), "default")
    assert list(held.documents) == [("example.com", "Runtime")]
