"""Definitions and profiles that mean harm, or nonsense: every field of them, with a message and never a crash.

`test_sandbox.py` has the tricks that take time and memory; here is what a value of another form, a text that leaves its
brackets, and a word that reaches outside come to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from advisor import files
from advisor.definitions import expressions, layers, reading
from advisor.definitions.catalog import Catalog
from advisor.errors import InputError
from advisor.workload import Workload
from tests.definitions.builders import karta

POD = {"spec": {"containers": [{"name": "main", "image": "x"}]}}
MANIFEST = {
    "apiVersion": "example.com/v1",
    "kind": "Thing",
    "metadata": {"name": "it"},
    "spec": {"workers": 3, "template": POD},
}
SCALER = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "it"},
    "spec": {
        "scaleTargetRef": {"apiVersion": "example.com/v1", "kind": "Thing", "name": "it"},
        "minReplicas": 2,
        "maxReplicas": 4,
    },
}
WORKER = {"name": "worker", "ownerRef": "thing", "specDefinition": {"podTemplateSpecPath": ".spec.template"}}
VALUES = (
    *("null", "true", "1", "-1", "1.5", "1e300", '"x"', '""', "[]", "[1]", '["a"]', "[[1]]", "[null]", "[{}]", "{}"),
    *('{"a":1}', '{"a":null}', '[{"a":1}]', "empty", "1,2", 'error("x")', ".", "{spec:1}", "{spec:{containers:1}}"),
    *("{metadata:1,spec:{containers:[]}}", "[0,1]", "[1,0]", "[-1,5]", "[0,1,2]", '["a","b"]', "{count:1}"),
    *("[{count:1,members:{}}]", "[{count:1,members:{worker:-1}}]", '[{count:"a",members:{worker:1}}]'),
    *("[{count:1,members:[1]}]", "[{count:1,members:{worker:1},more:1}]", '[{key:"a"}]'),
    *("[{key:1,unit:2,exclusive:3,path:4}]", '[{path:"a",text:1}]', '[{path:"a",text:"b",restricts:3}]'),
    *("{kind:1}", '{kind:"Pod",name:"x",at:[null]}', '{kind:"Pod",name:"x",at:1,group:[]}', '[{name:"x",spec:1}]'),
    *('[{name:"x",spec:{devices:1}}]', '[{name:"x",spec:{},shared:"y"}]', '{kind:"Pod",name:"x",namespace:{}}'),
    *('{"a":{of:1}}', '{"a":{of:"nobody"}}', '{"a":{of:"role",value:1}}', '{"a":{of:"role",other:1}}'),
)
"""jq for values of every form, most of which are wrong in most places."""

LEAVING = ("1) , (2", "1)], [(1", "true)) and true) catch false)] , [[1", "1; 2", ") | .(", '"', "1 \\", "1 | (")
"""Texts that would change the program that they are put into."""


def profile(**spec: Any) -> dict[str, Any]:
    whole = {"for": {"group": "example.com", "kind": "Thing", "versions": ["v1"]}, **spec}
    return {"apiVersion": "wm-place/v1", "kind": "PlacementProfile", "spec": whole}


def with_worker(**fields: Any) -> dict[str, Any]:
    return karta(children=json.dumps([{**WORKER, **fields}]))


Made = Callable[[str], dict[str, Any]]
OF_ROLE = ("name", "when", "replicas", "minimum", "maximum", "template", "labels", "startsAfter", "stages", "topology")


def with_role(field: str, text: str) -> dict[str, Any]:
    return profile(roles=[{"component": "worker", field: text}])


def with_added(field: str, text: str) -> dict[str, Any]:
    return profile(roles=[{"component": "worker"}, {"added": "x", "template": ".spec.template", field: text}])


def with_field(field: str, text: str) -> dict[str, Any]:
    return profile(**{field: text})


PROFILE: Mapping[str, Made] = {
    **{f"roles.{field}": partial(with_role, field) for field in OF_ROLE},
    **{f"added.{field}": partial(with_added, field) for field in OF_ROLE},
    **{field: partial(with_field, field) for field in ("prepare", "scaled", "unmodelled", "claims")},
    "references": lambda text: profile(references={"one": {"find": text}, "all": {"find": text, "pick": "all"}}),
    "podless": lambda text: profile(roles=[{"component": "worker", "when": "false"}], podless=text),
    "counts": lambda text: profile(counts=[text]),
    "gang.groups": lambda text: profile(gang={"groups": text}),
    "gang.minAvailable": lambda text: profile(gang={"minAvailable": text}),
    "rules.at": lambda text: profile(rules=[{"at": text, "is": "template", "required": True}, {"at": ".spec"}]),
    "rules.must": lambda text: profile(rules=[{"at": ".spec", "must": text, "says": "is wrong"}, {"at": ".spec"}]),
}
FRAGMENTS = (
    *("schedulerName", "priorityClassName", "image", "labels", "annotations", "resources", "resourceClaims"),
    *("podAffinity", "nodeAffinity", "containers", "container"),
)


def with_scale(field: str, text: str) -> dict[str, Any]:
    return with_worker(scaleDefinition={field: text})


def with_fragment(field: str, text: str) -> dict[str, Any]:
    return with_worker(specDefinition={"fragmentedPodSpecDefinition": {field: text}})


def resumed_by(text: str) -> dict[str, Any]:
    suspend = [{"path": ".spec.suspend", "value": "true"}]
    actions = {"suspendActions": suspend, "resumeActions": [{"path": text, "value": "false"}]}
    return karta(json.dumps({"suspendDefinition": actions}), json.dumps([WORKER]))


DEFINITION: Mapping[str, Made] = {
    "podTemplateSpecPath": lambda text: with_worker(specDefinition={"podTemplateSpecPath": text}),
    "podSpecPath": lambda text: with_worker(specDefinition={"podSpecPath": text}),
    "metadataPath": lambda text: with_worker(
        specDefinition={"podSpecPath": ".spec.template.spec", "metadataPath": text}
    ),
    **{field: partial(with_scale, field) for field in ("replicasPath", "minReplicasPath", "maxReplicasPath")},
    **{f"{field}Path": partial(with_fragment, f"{field}Path") for field in FRAGMENTS},
    "instanceIdPath": lambda text: with_worker(
        instanceIdPath=text, podSelector={"componentInstanceSelector": {"idPath": ".x"}}
    ),
    "resumeActions": resumed_by,
}


def read(folder: Path, *documents: dict[str, Any]) -> Workload | None:
    """The manifest by the definition; None where that was refused with a message."""
    path = folder / "thing.yaml"
    path.write_text("\n---\n".join(map(json.dumps, documents)))
    layer = layers.from_files([str(path)])
    if layer.faults:
        assert all(fault.message and fault.where for fault in layer.faults)
        return None
    source = files.Source("it", f"{json.dumps(MANIFEST)}\n{json.dumps(SCALER)}")
    (found,) = reading.read(files.documents(source), Catalog([layer])).workloads
    assert all(fault.message and fault.where for fault in found.faults)
    return found


@pytest.mark.parametrize("field", PROFILE)
def test_an_expression_of_a_profile_may_give_anything(tmp_path: Path, field: str) -> None:
    outcomes = [read(tmp_path, with_worker(), PROFILE[field](text)) for text in (*VALUES, *LEAVING)]
    for found in outcomes:
        if found and not found.faults:
            _has_the_right_types(found)
    assert any(found is None or found.faults for found in outcomes)


@pytest.mark.parametrize("field", DEFINITION)
def test_an_expression_of_a_definition_may_give_anything(tmp_path: Path, field: str) -> None:
    outcomes = [read(tmp_path, DEFINITION[field](text)) for text in (*VALUES, *LEAVING)]
    for found in outcomes:
        if found and not found.faults:
            _has_the_right_types(found)
    assert any(found is None or found.faults for found in outcomes)


def _has_the_right_types(found: Workload) -> None:
    for role in found.roles:
        assert isinstance(role.name, str) and role.name
        for number in (role.replicas, role.minimum, role.block, *role.stages):
            assert isinstance(number, int) and not isinstance(number, bool) and number >= 0
        assert role.maximum is None or role.maximum >= role.minimum
        assert all(isinstance(one.exclusive, bool) and isinstance(one.key, str) for one in role.topology)
        assert isinstance(role.starts_after, str)
    for group in found.groups:
        assert group.count > 0 and all(pods > 0 for pods in group.members.values())
    assert all(isinstance(one.path, str) and isinstance(one.restricts, bool) for one in found.unmodelled)


def test_a_condition_that_gives_no_answer_or_two_does_not_hold(tmp_path: Path) -> None:
    for text in ("empty", "true, true", "error"):
        found = read(tmp_path, with_worker(), PROFILE["rules.must"](text))
        assert found and [fault.message for fault in found.faults] == ["is wrong"]


OUTSIDE = (
    *("env", "$ENV", "$ENV.PATH", "input", "inputs", "input_filename", "input_line_number", "debug", "stderr", "halt"),
    *("halt_error", "$__loc__", "$__prog_args", "modulemeta", "get_search_list", "env::env", "$env::ENV"),
)
POSITIONS = (
    *("{}", "{}|1", "1|{}", "[{}]", "{{a: {}}}", "{{({}|tostring): 1}}", '"\\({})"', '@base64 "\\({})"', ".[{}]?"),
    *("first({})", "limit(1; {})", "def f: {}; f", "def f(g): g; f({})", "if {} then 1 else 2 end", "try {} catch ."),
    *("reduce {} as $x (0; .)", "foreach (1,2) as $x (0; {})", "{} as $x | $x", ". as [$x] ?// $x | {}", "(({}))"),
    *(
        "1#\n|{}",
        "label $f | {}",
        "{}\n#",
        "1//{}",
        "-{}",
        "{}?",
        "path({})",
        "[.[]?|{}]",
        ".a[{}:]?",
        "1 as $x|[$x,{}]",
    ),
)


@pytest.mark.parametrize("word", OUTSIDE)
@pytest.mark.parametrize("edits", [False, True])
def test_what_reaches_outside_is_refused_wherever_it_stands(word: str, edits: bool) -> None:
    for position in POSITIONS:
        with pytest.raises(InputError) as raised:
            expressions.check(position.format(word), edits=edits)
        assert raised.value.faults


@pytest.mark.parametrize(
    "text", ['import "a" as a; 1', 'import "a" as $a; $a', 'include "a"; 1', 'include "a" {search: "/"}; 1']
)
@pytest.mark.parametrize("edits", [False, True])
def test_modules_are_refused(text: str, edits: bool) -> None:
    with pytest.raises(InputError, match="reaches outside the object"):
        expressions.check(text, edits=edits)


def test_fields_and_keys_of_these_names_are_not_refused() -> None:
    for text in (".env", "{env: 1}", "{env}", '."env"', '.["input"]', 'select(.x == "env")', ".spec.containers[].env"):
        expressions.check(text)
