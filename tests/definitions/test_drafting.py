"""Drafts: where pods are found in schemas and objects, which pods came of what, and which numbers say how many."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from advisor import files
from advisor.definitions import checking, examples, layers
from advisor.definitions.drafting import found, likeness, moment, numbers, propose, schematic, steps
from advisor.definitions.drafting.draft import Draft, text
from advisor.definitions.drafting.schematic import Crd
from advisor.definitions.engine import TRUSTED, prepare
from advisor.definitions.extract import Extraction
from advisor.definitions.layers import Entry
from advisor.definitions.shipped import builtin_folder
from advisor.errors import InputError
from advisor.workload import Workload
from tests import corpus
from tests.definitions.builders import yaml

Object = dict[str, Any]


def pod(name: str, containers: str, labels: str = "{}") -> Object:
    return {"metadata": {"name": name, "labels": yaml(labels)}, "spec": {"containers": yaml(containers)}}


def thing(spec: str) -> Object:
    head: Object = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "it"}}
    return {**head, "spec": yaml(spec)}


def template(image: str, gpus: int = 0) -> str:
    limits = f", resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}" if gpus else ""
    return f"{{spec: {{containers: [{{name: main, image: {image}{limits}}}]}}}}"


READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def running(count: int) -> list[Object]:
    return [{**pod(f"p{n}", "[{name: main, image: a}]"), "status": READY} for n in range(count)]


def drafted(data: Object, pods: Sequence[Object], crd: Crd | None = None) -> tuple[Draft, likeness.Likeness]:
    draft, came = propose.of_pods(data, pods, "a test", crd)
    read = likeness.workload(draft, dict(draft.example or {}), "default")
    return draft, likeness.held_against(read, came, "default")


class TestSchema:
    CONTAINERS = "{type: array, items: {type: object, properties: {name: {type: string}, image: {type: string}}}}"
    SPEC = f"{{type: object, properties: {{containers: {CONTAINERS}}}}}"
    PODS = f"{{type: object, properties: {{metadata: {{type: object}}, spec: {SPEC}}}}}"

    def sites(self, spec: str) -> list[tuple[str, str]]:
        schema = {"properties": {"spec": yaml(f"{{type: object, properties: {spec}}}")}}
        return [(steps.path(site.steps), site.form) for site in schematic.sites(schema)]

    def test_a_template_a_spec_and_what_says_nothing_of_itself(self) -> None:
        assert self.sites(f"{{worker: {{type: object, properties: {{template: {self.PODS}}}}}}}") == [
            (".spec.worker.template", "podTemplateSpecPath")
        ]
        assert self.sites(f"{{podSpec: {self.SPEC}}}") == [(".spec.podSpec", "podSpecPath")]
        unknown = "{template: {type: object, x-kubernetes-preserve-unknown-fields: true}}"
        assert self.sites(f"{{head: {{type: object, properties: {unknown}}}}}") == [
            (".spec.head.template", "podTemplateSpecPath")
        ]
        assert self.sites("{config: {type: object, x-kubernetes-preserve-unknown-fields: true}}") == []

    def test_lists_and_maps(self) -> None:
        items = (
            f"{{type: array, items: {{type: object, properties: {{name: {{type: string}}, template: {self.PODS}}}}}}}"
        )
        assert self.sites(f"{{groups: {items}}}") == [(".spec.groups[].template", "podTemplateSpecPath")]
        members = f"{{type: object, additionalProperties: {{type: object, properties: {{template: {self.PODS}}}}}}}"
        assert self.sites(f"{{roles: {members}}}") == [(".spec.roles[].template", "podTemplateSpecPath")]

    def test_parts_of_pods_only_where_there_is_no_whole_one(self) -> None:
        parts = "image: {type: string}, resources: {type: object, properties: {limits: {}, requests: {}}}"
        assert self.sites(f"{{serve: {{type: object, properties: {{{parts}}}}}}}") == [(".spec.serve", "")]
        worker = f"worker: {{type: object, properties: {{template: {self.PODS}}}}}"
        both = f"{{serve: {{type: object, properties: {{{parts}}}}}, {worker}}}"
        assert self.sites(both) == [(".spec.worker.template", "podTemplateSpecPath")]

    @pytest.mark.parametrize(
        ("data", "why"),
        [
            ({}, "no whole CustomResourceDefinition"),
            ({"spec": {}}, "no whole CustomResourceDefinition"),
            ({"spec": None}, "no whole CustomResourceDefinition"),
            ({"spec": {"versions": [{"name": "v1"}]}}, "no whole CustomResourceDefinition"),
            ({"spec": {"versions": [{"name": "v1", "schema": None}]}}, "no whole CustomResourceDefinition"),
            ({"spec": {"versions": 1}}, "spec.versions: must be a list, not a number"),
            ({"spec": {"versions": ["v1"]}}, r"spec.versions\[0\]: must be a mapping, not text"),
            ({"spec": {"versions": [{"name": "v1"}, None]}}, r"spec.versions\[1\]: must be a mapping, not null"),
            ({"spec": {"versions": [], "names": [1]}}, "spec.names: must be a mapping, not a list"),
        ],
    )
    def test_what_is_no_whole_crd(self, data: Object, why: str) -> None:
        with pytest.raises(InputError, match=why):
            schematic.read(data)

    @pytest.mark.corpus
    @corpus.needed
    def test_every_public_crd_with_pods_gives_a_draft_that_is_valid(self) -> None:
        """Where a kind of ours has its pods at plain paths, the draft finds the same."""
        drafts = {crd.kind: propose.of_schema(crd, "a test") for crd in crds() if schematic.sites(crd.schema)}
        assert len(drafts) >= 25
        for draft in drafts.values():
            found = checking.checked(files.documents(files.Source("draft", text(draft))), TRUSTED)
            assert [fault for one in found for fault in one.errors] == []
        paths = {kind.kind: {steps.path(part.site.steps) for part in draft.parts} for kind, draft in drafts.items()}
        assert paths["JobSet"] == {".spec.replicatedJobs[].template.spec.template"}
        assert paths["RayCluster"] == {".spec.headGroupSpec.template", ".spec.workerGroupSpecs[].template"}
        assert paths["PyTorchJob"] == {".spec.pytorchReplicaSpecs[].template"}
        assert paths["PodCliqueSet"] == {".spec.template.cliques[].spec.podSpec"}


def crds() -> Iterator[Crd]:
    for _, one in corpus.custom_resources():
        assert schematic.is_crd(one)
        yield schematic.read(one)


class TestNumbers:
    @pytest.mark.parametrize(
        ("spec", "pods", "expected"),
        [
            ("{replicas: 3, template: T}", 3, "(.spec.replicas // 1)"),
            ("{worker: {replicas: 3, template: T}, other: 3}", 3, "(.spec.worker.replicas // 1)"),
            ("{deadline: 3, size: 3, template: T}", 3, "(.spec.size // 1)"),
            (
                '{shape: "2x3", template: T}',
                6,
                '(.spec.shape | [scan("[0-9]+") | tonumber] | reduce .[] as $n (1; . * $n))',
            ),
            ('{cells: "4", template: T}', 4, "(.spec.cells | tonumber)"),
            ("{accelerator: v5e-8, template: T}", 8, '(.spec.accelerator | [scan("[0-9]+") | tonumber] | last)'),
            ("{hostList: [a, b, c], template: T}", 3, "(.spec.hostList | length)"),
            ("{replicas: 2, size: 3, template: T}", 6, "(.spec.replicas // 1) * (.spec.size // 1)"),
            ("{replicas: 2, size: 4, template: T}", 6, "(.spec.replicas // 1) * ((.spec.size // 1) - 1)"),
            ("{size: 4, template: T}", 3, "(.spec.size // 1) - 1"),
            ("{replicas: 2, minReplicas: 4, template: T}", 8, None),
            ('{image: "example.com/a:8", memory: 8Gi, template: T}', 8, None),
        ],
    )
    def test_the_simplest_that_is_right(self, spec: str, pods: int, expected: str | None) -> None:
        data = thing(spec.replace("T", template("x")))
        best = numbers.counts(data, found.places(data), [pods])
        assert (best[0].text if best else None) == expected
        if expected:
            assert TRUSTED.evaluate(expected, prepare(data)) == [pods]

    def test_one_expression_for_all_items(self) -> None:
        groups = f"[{{name: a, size: 3, template: {template('x')}}}, {{name: b, template: {template('y')}}}]"
        data = thing(f"{{replicas: 2, groups: {groups}}}")
        (best, *_) = numbers.counts(data, found.places(data), [6, 2])
        assert best.text == "(.spec.replicas // 1) as $a | .spec.groups[] | (.size // 1) * $a"
        assert TRUSTED.evaluate(best.text, prepare(data)) == [6, 2]

    def test_a_thousand_numbers_are_as_good_as_a_few(self) -> None:
        """All pairs and triples of so many would be 166 million expressions."""
        many = ", ".join(f"x{at}: 2" for at in range(1000))
        data = thing(f"{{replicas: 4, size: 2, config: {{{many}}}, template: {template('x')}}}")
        (best, *others) = numbers.counts(data, found.places(data), [8])
        assert best.text == "(.spec.replicas // 1) * (.spec.size // 1)"
        assert len(others) < 5000

    def test_a_shape_is_not_its_first_number_times_its_last(self) -> None:
        data = thing(f'{{shape: "2x3", template: {template("x")}}}')
        (only,) = numbers.counts(data, found.places(data), [6])
        assert only.text.endswith("reduce .[] as $n (1; . * $n))")


class TestOrigins:
    def test_by_containers(self) -> None:
        data = thing(f"{{head: {{template: {template('a')}}}, worker: {{template: {template('b', 4)}}}}}")
        pods = [
            pod("x-0", "[{name: main, image: a}, {name: sidecar, image: s}]"),
            pod("x-1", "[{name: main, image: b, resources: {limits: {nvidia.com/gpu: '4'}}}]"),
            pod("x-2", "[{name: other, image: c}]"),
        ]
        came = found.origins(found.places(data), pods)
        assert [[one["metadata"]["name"] for one in members] for members in came.of.values()] == [["x-0"], ["x-1"]]
        assert [one["metadata"]["name"] for one in came.strangers] == ["x-2"]

    @pytest.mark.parametrize(
        "told",
        [
            lambda word: ("p", f"{{role: {word}}}"),
            lambda word: (f"it-{word}-0", "{}"),
            lambda word: ("p", f"{{a: it-{word}, z: {word}}}"),
        ],
    )
    def test_those_that_look_alike_by_labels_and_names(self, told: Any) -> None:
        data = thing(f"{{head: {{template: {template('a')}}}, worker: {{template: {template('a')}}}}}")
        pods = [pod(told(word)[0], "[{name: main, image: a}]", told(word)[1]) for word in ("head", "worker", "worker")]
        came = found.origins(found.places(data), pods)
        assert [len(members) for members in came.of.values()] == [1, 2]
        assert not came.together

    def test_one_that_asks_for_nothing_is_not_taken_for_one_that_does(self) -> None:
        data = thing(f"{{ps: {{template: {template('a')}}}, worker: {{template: {template('a', 4)}}}}}")
        bare, large = "[{name: main, image: a}]", "[{name: main, image: a, resources: {limits: {nvidia.com/gpu: 4}}}]"
        came = found.origins(found.places(data), [pod("x", bare), pod("y", large), pod("z", large)])
        assert [len(members) for members in came.of.values()] == [1, 2] and not came.together

    def test_those_that_nothing_tells_apart_are_said_to_be_so(self) -> None:
        data = thing(f"{{head: {{template: {template('a')}}}, worker: {{template: {template('a')}}}}}")
        draft, like = drafted(data, [pod("x", "[{name: main, image: a}]"), pod("y", "[{name: main, image: a}]")])
        assert not like.holds and like.strangers == 2
        assert "NOT TOLD APART: 2 pods, such as x" in text(draft)

    def test_items_of_a_list_and_members_of_a_map(self) -> None:
        data = thing(f"{{groups: [{{name: a, template: {template('x')}}}, {{name: b, template: {template('x')}}}]}}")
        assert [(place.id, steps.ids(place.site)) for place in found.places(data)] == [
            ("a", ".spec.groups[].name"),
            ("b", ".spec.groups[].name"),
        ]
        mapped = thing(f"{{roles: {{b: {{template: {template('x')}}}, a: {{template: {template('x')}}}}}}}")
        schema = {"properties": {"spec": {"properties": {"roles": {"additionalProperties": {"type": "object"}}}}}}
        assert {(place.id, steps.ids(place.site)) for place in found.places(mapped, schema)} == {
            ("a", ".spec.roles | keys[]"),
            ("b", ".spec.roles | keys[]"),
        }
        assert {steps.ids(place.site) for place in found.places(mapped)} == {None}


class TestDraft:
    def test_what_was_seen_is_reproduced(self) -> None:
        data = thing(f"{{head: {{template: {template('a')}}}, worker: {{replicas: 2, template: {template('b', 4)}}}}}")
        pods = [pod("h", "[{name: main, image: a}]", "{role: head, it: it}")]
        made = "[{name: main, image: b, resources: {requests: {nvidia.com/gpu: 4}}}]"
        pods += [pod(f"w{n}", made, "{role: worker, it: it}") for n in range(2)]
        draft, like = drafted(data, pods)
        assert like.holds and like.right == (("head", 1), ("worker", 2))
        assert [(part.title, part.replicas, part.label) for part in draft.parts] == [
            ("head", None, ("role", "head")),
            ("worker", "(.spec.worker.replicas // 1)", ("role", "worker")),
        ]
        assert draft.group_key == "it"

    def test_other_requests_and_other_numbers_are_told(self) -> None:
        data = thing(f"{{template: {template('a', 4)}}}")
        made = "[{name: main, image: a, resources: {requests: {nvidia.com/gpu: 4, cpu: 1}}}]"
        _, like = drafted(data, [pod("x", made), pod("y", made)])
        told = {(one.what, one.expected, one.found) for one in like.differences}
        assert told == {
            ("thing, pods", "2", "1"),
            ("thing, requests", "cpu 1, nvidia.com/gpu 4", "nvidia.com/gpu 4"),
        }

    def test_a_guess_is_a_doubt_so_that_no_answer_is_a_yes(self) -> None:
        data = thing(f"{{replicas: 3, template: {template('a')}}}")
        draft = propose.of_object(data, "a test")
        read = likeness.workload(draft, data, "default")
        assert [role.replicas for role in read.roles] == [3]
        assert [(one.path, one.restricts) for one in read.unmodelled] == [("spec.template", False)]
        seen, like = drafted(data, [pod(f"p{n}", "[{name: main, image: a}]") for n in range(3)])
        assert like.holds and not likeness.workload(seen, data, "default").unmodelled

    def test_several_numbers_that_fit_prove_none_of_them(self) -> None:
        data = thing(f"{{parallelism: 3, completions: 3, template: {template('a')}}}")
        draft, like = drafted(data, running(3))
        assert like.holds and "This would give the same: (.spec.completions // 1)." in draft.parts[0].doubt
        assert likeness.workload(draft, data, "default").unmodelled
        other = thing(f"{{parallelism: 3, completions: 6, template: {template('a')}}}")
        assert [(part.replicas, part.doubt) for part in drafted(other, running(3))[0].parts] == [
            ("(.spec.parallelism // 1)", "")
        ]

    def test_pods_that_are_not_told_apart_are_not_said_to_be_missing(self) -> None:
        data = thing(f"{{head: {{template: {template('a')}}}, worker: {{template: {template('a')}}}}}")
        draft, like = drafted(data, running(7))
        assert (like.differences, like.strangers) == ((), 7)
        assert all(part.doubt.startswith("Its pods look like those of another place") for part in draft.parts)

    def test_nothing_that_containers_are_told_is_in_it(self) -> None:
        told = "env: [{name: A, value: geheim}], args: [geheim], command: [geheim]"
        data = thing(f"{{template: {{spec: {{containers: [{{name: main, image: x, {told}}}]}}}}}}")
        draft = propose.of_object(data, "a test")
        assert "geheim" not in text(draft)

    @pytest.mark.parametrize("spec", ["{}", "{replicas: 1}", "{template: {spec: {containers: []}}}", "{containers: 5}"])
    def test_without_pods_there_is_no_draft(self, spec: str) -> None:
        with pytest.raises(InputError, match="nothing that looks like a pod"):
            propose.of_object(thing(spec), "a test")

    @pytest.mark.parametrize("kind", ["It's", "x: y", "a #b"])
    def test_odd_keys_are_written_so_that_yaml_reads_them_back(self, kind: str) -> None:
        data = thing(f'{{"{kind}": {{template: {template("a")}}}, b: {{template: {template("b")}}}}}')
        draft = propose.of_object(data, "a test")
        assert [role.replicas for role in likeness.workload(draft, data, "default").roles] == [1, 1]


class TestMoment:
    """Which pods of an object are there now, and why they may not be all."""

    DATA = thing(f"{{parallelism: 3, completions: 6, template: {template('a')}}}")

    @pytest.mark.parametrize(
        "change",
        [
            {"status": {"phase": "Succeeded"}},
            {"status": {"phase": "Failed"}},
            {"metadata": {"name": "p", "deletionTimestamp": "now"}},
        ],
    )
    def test_what_has_ended_or_must_end_is_not_counted(self, change: Object) -> None:
        now = moment.moment(self.DATA, [*running(3), {**running(1)[0], **change}])
        assert (len(now.pods), now.ended, now.doubt) == (3, 1, "1 pod of the object ended or must end")

    def test_what_is_not_ready_may_hold_others_back(self) -> None:
        waiting = {**running(1)[0], "status": {"phase": "Pending"}}
        assert moment.moment(self.DATA, [*running(2), waiting]).doubt == "1 pod of the object is not ready"
        assert moment.moment(self.DATA, running(3)).doubt == ""

    def test_what_the_object_says_of_itself(self) -> None:
        starting = {**self.DATA, "status": {"phase": "Creating"}}
        assert moment.moment(starting, running(3)).doubt == "the object says that it is Creating"

    def test_a_doubt_is_one_of_the_draft(self) -> None:
        draft, _ = propose.of_pods(self.DATA, running(3), "a test", doubt="1 pod is not ready")
        assert "# 3 pods of it were there. There may be more: 1 pod is not ready." in text(draft)
        assert likeness.workload(draft, self.DATA, "default").unmodelled


FILES = sorted(path for path in builtin_folder().glob("*.yaml") if path.stem.rpartition("-")[2].startswith("v"))


def entry(path: Path) -> Entry:
    (found,) = layers.builtin(path).entries
    return found


def as_created(definition: Entry, workload: Workload, data: Object) -> list[Object]:
    """The pods as a plain controller makes them: each role's template as often as it has pods, with a label."""
    extraction = Extraction(definition.definition, prepare(data), TRUSTED)
    made = []
    for role in workload.roles:
        instances = extraction.part(role.component).instances if not role.injected else ()
        source = next((one.pod for one in instances if one.id == role.instance), None)
        for number in range(role.replicas):
            one = copy.deepcopy(dict(source or {"spec": {"containers": [{"name": "added", "image": "added"}]}}))
            labels = {"role": role.name.lower()}
            made.append({**one, "metadata": {"name": f"it-{role.name.lower()}-{number}", "labels": labels}})
    return made


@pytest.mark.corpus
@corpus.needed
def test_most_examples_of_the_catalogue_are_found_again_from_their_pods() -> None:
    """And none is said to be that is not: what is reproduced has the roles and requests of the example."""
    known: Mapping[Any, Crd] = {(crd.kind.group, crd.kind.kind): crd for crd in crds()}
    right, tried = 0, 0
    for definition in map(entry, FILES):
        for workload, data in zip(examples.workloads(definition), manifests(definition), strict=True):
            try:
                pods = as_created(definition, workload, data)
                _, like = drafted(data, pods, known.get((definition.kind.group, definition.kind.kind)))
            except InputError:
                continue
            tried += 1
            right += like.holds
            if like.holds:
                assert sum(count for _, count in like.right) == sum(role.replicas for role in workload.roles)
    assert tried >= 40 and right / tried > 0.7


def manifests(definition: Entry) -> list[Object]:
    document = definition.profile_document
    assert document
    return [dict(one["manifest"]) for one in document.data["spec"]["examples"]]
