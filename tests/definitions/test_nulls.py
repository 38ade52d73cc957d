"""What is left of a null: in Kubernetes' own kinds, in those with a schema, and where a schema says nothing."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.definitions import nulls
from tests.definitions.builders import MAIN, Object, asking, container, jobs, workspace
from tests.definitions.test_doomed import GPU, REFUSED, faults, read, warnings

OF_JOBS = "spec.replicatedJobs[0].template.spec.template.spec"
OF_WORKSPACES = "inference.template.spec"
CAPABILITY = "containers[0].securityContext.capabilities.add[1]"
CLAIM = "containers[0].resources.claims[0].name"
EQUAL = f"must equal its limit: {REFUSED}"


def bare(**spec: Any) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "it"}, "spec": {"containers": [MAIN], **spec}}


def requests(manifest: Object) -> Any:
    return read(manifest).roles[0].template.containers[0].requests


def test_a_null_quantity_is_zero_and_stated_where_go_decodes_it() -> None:
    asked = asking(requests={"cpu": None}, limits={"cpu": "500"})
    assert requests(bare(**asked)) == {"cpu": 0}
    assert requests(workspace(**asked)) == {"cpu": 0}
    assert requests(jobs(**asked)) == {}


def test_a_null_request_for_devices_is_not_their_limit() -> None:
    asked = asking(requests={GPU: None}, limits={GPU: 1})
    place = f'containers[0].resources.requests["{GPU}"]'
    assert faults(read(bare(**asked))) == [f"spec.{place}: must equal its limit"]
    assert warnings(read(workspace(**asked))) == [(f"{OF_WORKSPACES}.{place}", EQUAL)]
    assert (faults(read(jobs(**asked))), warnings(read(jobs(**asked)))) == ([], [])


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        (container(env=[None]), "containers[0].env[0].name"),
        (container(envFrom=[None]), "containers[0].envFrom[0]"),
        ({"hostAliases": [None]}, "hostAliases[0].ip"),
        ({"containers": [None]}, "containers[0].name"),
        ({"tolerations": [None]}, "tolerations[0].operator"),
    ],
)
def test_a_null_member_of_a_list_has_no_field(spec: Object, place: str) -> None:
    assert any(one.startswith(f"spec.{place}: ") for one in faults(read(bare(**spec))))
    member = place[: place.rindex("]") + 1]
    assert faults(read(jobs(**spec))) == [f"{OF_JOBS}.{member}: must not be null"]


def test_a_null_text_is_empty() -> None:
    spec = {"nodeSelector": {"a": None}, **container(securityContext={"capabilities": {"add": [None]}})}
    found = read(bare(**spec))
    assert (found.faults, found.roles[0].template.nodes.pairs) == ((), (("a", ""),))
    assert read(jobs(nodeSelector={"a": None})).roles[0].template.nodes.pairs == ()


def test_nulls_stay_where_a_schema_says_nothing() -> None:
    data = {"kind": "Thing", "metadata": {"labels": {"a": None}}, "spec": {"a": None, "b": [{"c": None}, None]}}
    kept = {"kind": "Thing", "metadata": {"labels": {"a": None}}, "spec": {"b": [{"c": None}, None]}}
    assert nulls.stored(data) == {**kept, "spec": {"b": [{}, None]}}
    assert nulls.stored(data, [".spec.b"]) == kept
    assert nulls.stored(data, [".spec.*.c"]) == kept


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        ({"containers": [{"name": 5, "image": "i"}]}, "containers[0].name"),
        (container(image=5), "containers[0].image"),
        (container(securityContext={"capabilities": {"add": ["SYS_ADMIN", 5]}}), CAPABILITY),
        (container(resources={"claims": [{"name": 5}]}), "containers[0].resources.claims[0].name"),
        (container(volumeMounts=[{"name": 5, "mountPath": "/x"}]), "containers[0].volumeMounts[0].name"),
        ({"os": {"name": 5}}, "os.name"),
        ({"schedulingGroup": {"podGroupName": 5}}, "schedulingGroup.podGroupName"),
        ({"volumes": [{"name": 5, "emptyDir": {}}]}, "volumes[0].name"),
        ({"affinity": {"podAffinity": 5}}, "affinity.podAffinity"),
    ],
)
def test_a_wrong_type_is_told_once_and_at_its_place(spec: Object, place: str) -> None:
    for manifest, where in ((bare(**spec), "spec"), (jobs(**spec), OF_JOBS)):
        (found,) = faults(read(manifest))
        assert found.startswith(f"{where}.{place}: must be ")


@pytest.mark.parametrize(
    ("spec", "place", "message"),
    [
        (container(image="x\n"), "containers[0].image", "has blanks around it"),
        (asking(claims=[{"name": "zz"}]), CLAIM, "is none of spec.resourceClaims"),
    ],
)
def test_what_is_there_and_wrong_is_told_of_every_kind(spec: Object, place: str, message: str) -> None:
    assert faults(read(bare(**spec))) == [f"spec.{place}: {message}"]
    assert warnings(read(jobs(**spec))) == [(f"{OF_JOBS}.{place}", f"{message}: {REFUSED}")]
