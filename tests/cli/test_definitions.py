"""`definitions list | show | validate | test`: what there is, what it says, what is wrong with it, whether it holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.definitions.shipped import builtin_folder
from tests.cli.conftest import Run
from tests.cli.fleet import definition, write
from tests.kube.objects import Object

JOB = {"group": "batch", "version": "v1", "kind": "Job"}
EXAMPLE: Object = {
    "name": "one pod",
    "manifest": {
        "apiVersion": "example.com/v1",
        "kind": "FooJob",
        "metadata": {"name": "it"},
        "spec": {"template": {"spec": {"containers": [{"name": "main", "image": "x"}]}}},
    },
    "roles": {"foo": {"replicas": 1, "requests": {}}},
}


def for_jobs(name: str = "mine") -> Object:
    """A definition of the user's for a kind of ours."""
    made = definition("FooJob", ".spec.template")
    made["metadata"]["name"] = name
    made["spec"]["structureDefinition"]["rootComponent"]["kind"] = JOB
    return made


def profile(**spec: Any) -> Object:
    own = {"for": {"group": "example.com", "kind": "FooJob", "versions": ["v1"]}, "roles": [{"component": "foo"}]}
    return {"apiVersion": "wm-place/v1", "kind": "PlacementProfile", "spec": {**own, **spec}}


def own(home: Path, name: str, *documents: Object) -> Path:
    return write(home / ".config/wm-place/definitions" / name, *documents)


class TestList:
    def test_all_of_ours_are_there(self, run: Run) -> None:
        found = run("definitions", "list", "-o", "name")
        assert (found.code, found.err) == (0, "")
        ours = {path.stem for path in builtin_folder().glob("*.yaml") if path.stem.rpartition("-")[2].startswith("v")}
        assert set(found.out.split()) == ours

    def test_by_precedence_with_what_is_overridden(self, run: Run, folder: Path, home: Path) -> None:
        file = write(folder / "mine.yaml", for_jobs("by-file"))
        own(home, "foo.yaml", definition(), profile(examples=[EXAMPLE]))
        own(home, "job.yaml", for_jobs("by-folder"))
        report = run("definitions", "list", "--definition", file, "-o", "json").report["definitions"]
        names = [one["name"] for one in report]
        assert names[:3] == ["by-file", "foo", "by-folder"]
        by_name = {one["name"]: one for one in report}
        of_file = f"file {file}"
        assert [by_name[name]["overriddenBy"] for name in ("by-file", "by-folder", "batch-job-v1")] == [
            None,
            of_file,
            of_file,
        ]
        assert by_name["foo"]["overriddenBy"] is None
        assert (by_name["foo"]["profile"], by_name["foo"]["examples"]) == (by_name["foo"]["from"], 1)
        assert by_name["by-file"]["profile"] == "builtin", "a definition without a profile keeps ours"
        assert by_name["core-pod-v1"]["overriddenBy"] is None

    def test_the_table_says_the_same_for_people(self, run: Run, folder: Path) -> None:
        file = write(folder / "mine.yaml", for_jobs("by-file"))
        found = run("definitions", "list", "--definition", file, "--no-headers").out.splitlines()
        assert found[0].split() == ["batch/v1", "Job", "by-file", "file", str(file)]
        (ours,) = (line for line in found if "batch-job-v1" in line)
        assert ours.split() == ["batch/v1", "Job", "batch-job-v1", "builtin", "file", str(file)]
        assert run("definitions", "list", "-o", "yaml").out.startswith(
            "apiVersion: wm-place/v1\nkind: DefinitionList\n"
        )
        assert "PROFILE" in run("definitions", "list", "-o", "wide").out

    def test_two_of_one_origin_are_ambiguous(self, run: Run, home: Path) -> None:
        own(home, "a.yaml", definition())
        own(home, "b.yaml", definition())
        first, second, *_ = run("definitions", "list", "--no-headers").out.splitlines()
        assert "ambiguous" in first and "2 of them" in first and "ambiguous" in second

    def test_broken_ones_are_warned_about_and_left_out(self, run: Run, home: Path) -> None:
        own(home, "broken.yaml", definition("FooJob", ".["))
        found = run("definitions", "list", "-o", "name")
        assert found.code == 0
        assert "foo" not in found.out.split()
        assert "broken.yaml:" in found.err and "[ is not closed" in found.err


class TestShow:
    @pytest.mark.parametrize(
        "word",
        ["job.batch", "Job.batch", "job.v1.batch", "batch/v1/Job", "batch/v1 Job", "batch-job-v1"],
    )
    def test_the_file_as_it_is(self, run: Run, word: str) -> None:
        found = run("definitions", "show", word)
        assert (found.code, found.out) == (0, (builtin_folder() / "batch-job-v1.yaml").read_text())

    def test_a_kind_in_two_versions_is_shown_twice(self, run: Run) -> None:
        found = list(yaml.safe_load_all(run("definitions", "show", "mpijob", "-o", "yaml").out))
        assert [one["metadata"]["name"] for one in found if one["kind"] == "Karta"] == [
            "kubeflow-org-mpijob-v1",
            "kubeflow-org-mpijob-v2beta1",
        ]

    def test_json_can_be_given_back_to_us(self, run: Run, folder: Path) -> None:
        found = run("definitions", "show", "job.batch", "-o", "json")
        path = folder / "job.json"
        path.write_text(found.out)
        assert [one["kind"] for one in json.loads(found.out)["items"]] == ["Karta", "PlacementProfile"]
        assert run("definitions", "validate", path).code == 0
        assert run("definitions", "test", path).code == 0

    def test_the_one_that_is_used_is_shown_and_the_others_are_named(self, run: Run, folder: Path) -> None:
        file = write(folder / "mine.yaml", for_jobs("by-file"))
        found = run("definitions", "show", "job.batch", "--definition", file)
        assert found.out == file.read_text()
        assert f"batch/v1 Job is read by this definition of file {file}, not by that of builtin" in found.err
        by_name = run("definitions", "show", "batch-job-v1", "--definition", file)
        assert by_name.out == (builtin_folder() / "batch-job-v1.yaml").read_text()
        assert f"is not read by this definition of builtin, but by that of file {file}" in by_name.err

    def test_a_word_that_means_none(self, run: Run) -> None:
        found = run("definitions", "show", "jobst")
        assert (found.code, found.out) == (2, "")
        assert 'there is no definition of "jobst"' in found.err and "did you mean jobset" in found.err
        assert run("definitions", "show").code == 2


class TestValidate:
    def test_everything_at_once_with_file_line_and_path(self, run: Run, folder: Path) -> None:
        path = folder / "thing.yaml"
        path.write_text(
            "apiVersion: run.ai/v1alpha1\nkind: Karta\nmetadata: {name: foo}\nspec:\n"
            "  structureDefinition:\n    rootComponent:\n      name: foo\n"
            "      kind: {group: example.com, version: v1, kind: FooJob}\n"
            "      ownerRef: foo\n"
            "      specDefinition: {podTemplateSpecPath: spec.template}\n"
            "      scaleDefinition: {}\n"
            "      statusDefinition: {statusMappings: {}}\n"
            "---\n"
            "apiVersion: wm-place/v1\nkind: PlacementProfile\nspec:\n"
            "  for: {group: example.com, kind: FooJob, versions: [v2]}\n"
            "  uses: [nothing]\n"
            "  roles:\n    - {component: bar, replicas: $roles.x}\n"
        )
        found = run("definitions", "validate", path, "-o", "json")
        assert found.code == 2
        (one,) = found.report["definitions"]
        assert one["for"] == {"group": "example.com", "version": "v1", "kind": "FooJob"}
        assert [(error["line"], error["path"], error["text"]) for error in one["errors"]] == [
            (9, "spec.structureDefinition.rootComponent.ownerRef", "the root component has no owner"),
            (
                10,
                "spec.structureDefinition.rootComponent.specDefinition.podTemplateSpecPath",
                "not valid jq: spec/0 is not defined",
            ),
            (17, "spec.for.versions", "does not name v1, the version of its definition"),
            (18, "spec.uses", "names a library that is not there"),
            (20, "spec.roles[0].component", "there is no component bar"),
            (20, "spec.roles[0].replicas", "not valid jq: $roles is not defined"),
        ]
        assert [warning["path"] for warning in one["warnings"]] == [
            "spec.structureDefinition.rootComponent.scaleDefinition",
            "spec",
            "spec.roles",
        ]
        text = run("definitions", "validate", path)
        assert text.code == 2
        assert (
            f"error: {path}:9 spec.structureDefinition.rootComponent.ownerRef: the root component has no owner\n"
            in text.out
        )
        assert text.out.endswith("1 definition, 6 errors, 3 warnings\n")

    def test_what_is_right_has_exit_code_0(self, run: Run, folder: Path) -> None:
        path = write(folder / "foo.yaml", definition(), profile(examples=[EXAMPLE]))
        found = run("definitions", "validate", path)
        assert (found.code, found.out) == (0, "1 definition, 0 errors, 0 warnings\n")
        assert run("definitions", "validate", path, "-o", "name").out == "foo\n"
        assert run("definitions", "validate", "-", stdin=path.read_text()).code == 0

    def test_a_kind_that_is_defined_twice(self, run: Run, folder: Path) -> None:
        one, other = (write(folder / f"{name}.yaml", definition()) for name in "ab")
        found = run("definitions", "validate", one, other)
        assert found.code == 2
        assert f"{other}:1: example.com/v1 FooJob has a definition in {one}:1 already" in found.out

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("kind: [", "is not YAML"),
            ("apiVersion: v1\nkind: ConfigMap\n", "holds no definition"),
            ("", "holds no definition"),
            ("apiVersion: wm-place/v1\nkind: PlacementProfile\n", "stands behind the definition"),
        ],
    )
    def test_files_that_are_none(self, run: Run, folder: Path, text: str, message: str) -> None:
        path = folder / "none.yaml"
        path.write_text(text)
        found = run("definitions", "validate", path)
        assert found.code == 2 and f"error: {path}" in found.out and message in found.out
        assert run("definitions", "validate", path, "-o", "json").report["definitions"][0]["errors"]

    def test_files_of_a_folder_that_hold_something_else_are_passed_over(self, run: Run, folder: Path) -> None:
        write(folder / "all/foo.yaml", definition(), profile(examples=[EXAMPLE]))
        write(folder / "all/other.yaml", {"apiVersion": "v1", "kind": "ConfigMap"})
        assert run("definitions", "validate", folder / "all").code == 0

    def test_nothing_named(self, run: Run) -> None:
        assert (run("definitions", "validate").code, run("definitions", "validate", "none.yaml").code) == (2, 2)

    def test_a_profile_with_unknown_keys_names_the_likely_one(self, run: Run, folder: Path) -> None:
        path = write(folder / "foo.yaml", definition(), profile(exmples=[]))
        (one,) = run("definitions", "validate", path, "-o", "json").report["definitions"]
        (error,) = one["errors"]
        assert (error["path"], error["text"]) == ("spec.exmples", "is not a field of a placement profile")
        assert error["hint"].startswith("did you mean examples")


class TestExamples:
    def test_our_own_catalogue_holds(self, run: Run) -> None:
        found = run("definitions", "test", "--all", "-o", "json")
        assert found.code == 0
        assert all(one["holds"] for one in found.report["examples"])

    def test_what_does_not_come_out_is_shown(self, run: Run, folder: Path) -> None:
        wrong = {**EXAMPLE, "name": "two pods", "roles": {"foo": {"replicas": 2, "requests": {"cpu": 1}}}}
        path = write(folder / "foo.yaml", definition(), profile(examples=[EXAMPLE, wrong]))
        found = run("definitions", "test", path)
        assert found.code == 1
        line = next(n for n, text in enumerate(path.read_text().split("\n"), 1) if "two pods" in text)
        assert found.out.splitlines() == [
            f"FAILS  foo: two pods ({path}:{line})",
            "  WHAT                       EXPECTED  FOUND",
            "  role foo, replicas         2         1",
            "  role foo, minimum          2         1",
            "  role foo, requests of cpu  1         nothing",
            "1 of 2 examples come out as they say",
        ]
        (holds, fails) = run("definitions", "test", path, "-o", "json").report["examples"]
        assert (holds["holds"], fails["holds"], len(fails["differences"])) == (True, False, 3)
        assert "holds  foo: one pod" in run("definitions", "test", path, "-o", "wide").out

    def test_by_the_name_of_a_definition(self, run: Run) -> None:
        found = run("definitions", "test", "jobset", "core-pod-v1", "-o", "json")
        assert found.code == 0
        assert {one["definition"] for one in found.report["examples"]} == {
            "jobset-x-k8s-io-jobset-v1alpha2",
            "core-pod-v1",
        }

    def test_a_definition_that_keeps_our_profile_is_held_against_our_examples(self, run: Run, folder: Path) -> None:
        broken = for_jobs()
        root = broken["spec"]["structureDefinition"]["rootComponent"]
        root["name"] = "job"
        root["specDefinition"]["podTemplateSpecPath"] = ".spec.nothing"
        found = run("definitions", "test", write(folder / "mine.yaml", broken))
        assert found.code == 1 and "0 of" in found.out

    def test_without_examples_there_is_nothing_to_try(self, run: Run, folder: Path) -> None:
        found = run("definitions", "test", write(folder / "foo.yaml", definition()))
        assert (found.code, found.out) == (2, "")
        assert "foo has no examples" in found.err and "there is no example to try" in found.err

    @pytest.mark.parametrize("words", [(), ("job", "--all"), ("none.yaml",), ("jobst",)])
    def test_words_that_mean_nothing(self, run: Run, words: tuple[str, ...]) -> None:
        found = run("definitions", "test", *words)
        assert (found.code, found.out) == (2, "")
        assert found.err.startswith("error: ")


class TestInit:
    def test_an_example_gives_a_draft_that_is_valid_and_tried(self, run: Run, folder: Path) -> None:
        write(folder / "foo.yaml", EXAMPLE["manifest"])
        assert run("definitions", "init", "foo.yaml", "-o", "draft.yaml").code == 0
        assert run("definitions", "validate", "draft.yaml").code == 0
        assert run("definitions", "test", "draft.yaml").code == 0
        again = run("definitions", "init", "foo.yaml", "-o", "draft.yaml")
        assert again.code == 2 and "cannot be written: File exists" in again.err

    def test_from_stdin(self, run: Run) -> None:
        found = run("definitions", "init", "-", stdin=json.dumps(EXAMPLE["manifest"]))
        assert found.code == 0 and "kind: Karta" in found.out

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ((), "name what to make a draft from"),
            (("a.yaml", "--crd", "x"), "name what to make a draft from"),
            (("none.yaml",), 'there is no file "none.yaml"'),
            (("two.yaml",), "holds 2 objects, an example is one"),
            (("bare.yaml",), "nothing that looks like a pod"),
            (("--crd", "x", "--kubeconfig", "none"), "none"),
        ],
    )
    def test_what_gives_none(self, run: Run, folder: Path, words: tuple[str, ...], message: str) -> None:
        bare = {"apiVersion": "example.com/v1", "kind": "FooJob", "metadata": {"name": "it"}, "spec": {}}
        write(folder / "two.yaml", bare, bare)
        write(folder / "bare.yaml", bare)
        found = run("definitions", "init", *words)
        assert (found.code, found.out) == (2, "")
        assert message in found.err

    def test_a_draft_that_cannot_read_its_object_is_written_all_the_same(self, run: Run, folder: Path) -> None:
        """Nothing can be made of containers without names; the draft still says where they are."""
        nameless = {"containers": [{"image": "x"}]}
        asked = {**EXAMPLE["manifest"], "spec": {"template": {"spec": nameless}}}
        write(folder / "foo.yaml", asked)
        found = run("definitions", "init", "foo.yaml")
        assert found.code == 1
        assert "the draft cannot read the object" in found.err
        assert "podTemplateSpecPath: '.spec.template'" in found.out


def test_options_may_stand_before_the_word(run: Run) -> None:
    first = run("-o", "name", "definitions", "list")
    second = run("definitions", "-o", "name", "list")
    third = run("definitions", "list", "-o", "name")
    assert first == second == third and first.code == 0


def test_a_word_that_is_no_command(run: Run) -> None:
    found = run("definitions", "lst")
    assert found.code == 2 and found.err.startswith("error: ") and "lst" in found.err
    assert "Commands:" in run("definitions").out
