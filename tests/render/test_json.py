"""The trees behind `-o json` and `-o yaml`: field by field, and against the schemas that are shipped."""

from __future__ import annotations

import json as stdlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from advisor import files
from advisor.render import json
from advisor.verdict import CODES, NOTES, VERDICTS, Change, Reason
from tests.builders import GPU
from tests.render import schemas
from tests.render.answers import answer, eu, everything, faulty, l4, llama, placed, report, smaller, unread, us, various


def placement(found: Any = None, code: int = 0, **context: Any) -> Any:
    return schemas.check(json.placement_report(found or placed(), code, **context))


def described(*workloads: Any, **context: Any) -> Any:
    return schemas.check(json.workload_report(workloads, **context))


def test_the_whole_of_a_report_is_valid() -> None:
    recorded = {"eu-h200": ("recorded by kubectl",)}
    tree = placement(various(), 2, passed_over={"Service": 2, "ConfigMap": 1}, recorded=recorded)
    assert list(tree["passedOver"]) == ["ConfigMap", "Service"]
    assert tree["workloads"][0]["clusters"][0]["recording"] == ["recorded by kubectl"]
    assert tree["exitCode"] == 2


def test_json_and_yaml_are_the_same_tree_and_always_the_same_bytes() -> None:
    one, other = (json.text(placement(various())) for _ in range(2))
    assert one == other
    (document,) = files.documents(files.Source("x", files.dump(placement(various()))))
    assert document.data == stdlib.loads(one)


def test_the_order_of_mappings_does_not_show() -> None:
    verdict = eu()
    assert verdict.placement
    turned = {role: dict(sorted(nodes.items(), reverse=True)) for role, nodes in verdict.placement.assignment.items()}
    other = replace(verdict, placement=replace(verdict.placement, assignment=turned))
    texts = {json.text(placement(report(answer(one, chosen=0)))) for one in (verdict, other)}
    assert len(texts) == 1


def test_what_scripts_rely_on() -> None:
    tree = placement()
    (workload,) = tree["workloads"]
    assert (tree["apiVersion"], tree["kind"]) == ("wm-place/v1", "PlacementReport")
    assert (tree["asOf"], tree["askedAt"]) == ("2026-11-30T09:00:00Z", "2026-11-30T12:00:00Z")
    assert {key: workload[key] for key in ("apiVersion", "kind", "namespace", "name", "source", "definition")} == {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "namespace": "team",
        "name": "llama",
        "source": {"file": "train.yaml", "line": 1},
        "definition": {"name": "test", "from": "builtin"},
    }
    assert workload["choice"] == {
        "cluster": "eu-h200",
        "verdict": "fits",
        "assurance": "any-order",
        "assignment": [
            {"role": "leader", "nodes": {"h200-01": 1}},
            {"role": "worker", "nodes": {"h200-01": 1, "h200-02": 1}},
        ],
    }
    assert [cluster["name"] for cluster in workload["clusters"]] == ["eu-h200", "fra", "us-h100", "us-l4"]


def test_a_cluster_that_is_full() -> None:
    cluster = placement()["workloads"][0]["clusters"][2]
    assert (cluster["verdict"], cluster["free"], cluster["size"]) == ("full", 18, None)
    assert cluster["largest"] == {"leader": 1, "worker": 1}
    assert cluster["ageSeconds"] == 3 * 3600
    assert cluster["gaps"] == [
        {
            "what": "resourcequotas",
            "why": "forbidden",
            "text": "user reader may not list resourcequotas at cluster scope",
        }
    ]
    assert cluster["reasons"][0] == {
        "code": "fragmentation",
        "role": "worker",
        "filter": "NodeResourcesFit",
        "subject": None,
        "nodes": 6,
        "nodesWithEnough": 0,
        "needs": {GPU: "4"},
        "has": {GPU: "3"},
        "total": {GPU: "18"},
        "lasting": False,
        "doubt": False,
        "text": us().why,
    }
    assert cluster["changes"][0] == {
        "kind": "add-nodes",
        "subject": "h100-01",
        "count": 2,
        "amounts": {"cpu": "96", GPU: "8"},
        "nodes": {},
        "text": "2 more nodes like h100-01 (96 cpu, 8 GPUs)",
        "verified": True,
    }


def test_what_is_not_known_is_null() -> None:
    cluster = placement()["workloads"][0]["clusters"][1]
    assert [cluster[key] for key in ("free", "size", "largest")] == [None, None, None]
    lonely = replace(unread(), taken_at=None)
    tree = placement(report(answer(lonely)))
    assert tree["workloads"][0]["clusters"][0]["ageSeconds"] is None
    assert tree["workloads"][0]["choice"] is None
    assert tree["asOf"] == tree["askedAt"]


def test_the_size_of_a_smaller_gang() -> None:
    cluster = placement(report(answer(smaller())))["workloads"][0]["clusters"][0]
    assert cluster["size"] == {"leader": 1, "worker": 1}


def test_doubts_decide_where_the_verdict_is_unknown() -> None:
    doubt, no = Reason("unreadable", subject="limitranges", text="?"), us().reasons[0]
    for verdict, codes in (("unknown", ["unreadable", "fragmentation"]), ("full", ["fragmentation", "unreadable"])):
        mixed = replace(us(), verdict=verdict, doubts=(doubt,), reasons=(no,))
        reasons = placement(report(answer(mixed)))["workloads"][0]["clusters"][0]["reasons"]
        assert [reason["code"] for reason in reasons] == codes
        assert [reason["doubt"] for reason in reasons] == [code == "unreadable" for code in codes]


@pytest.mark.parametrize(
    ("resource", "amount", "quantity"),
    [
        ("cpu", 1500, {"cpu": "1500m"}),
        ("requests.cpu", 64_000, {"requests.cpu": "64"}),
        ("limits.memory", 64 << 30, {"limits.memory": "64Gi"}),
        ("requests.nvidia.com/gpu", 8, {"requests.nvidia.com/gpu": "8"}),
        ("count/jobs.batch", 3, {"count/jobs.batch": "3"}),
        ("", 2, {"pods": "2"}),
    ],
)
def test_amounts_are_canonical(resource: str, amount: int, quantity: dict[str, str]) -> None:
    reason = Reason("resource-quota", resource=resource, needs=amount)
    change = Change("raise-quota", detail={resource or "pods": amount})
    verdict = replace(l4(), reasons=(reason,), changes=(change,))
    cluster = placement(report(answer(verdict)))["workloads"][0]["clusters"][0]
    assert cluster["reasons"][0]["needs"] == quantity
    assert cluster["changes"][0]["amounts"] == quantity


def test_a_workload_that_could_not_be_read() -> None:
    workload = placement(report(answer(of=faulty())), 2)["workloads"][0]
    assert (workload["choice"], workload["clusters"]) == (None, [])
    assert workload["errors"] == [
        {
            "path": "spec.memory",
            "code": "invalid",
            "text": '"8Gb" is not a quantity',
            "hint": 'leave the b away: "8G"',
            "line": 7,
        }
    ]
    assert described(faulty())["workloads"][0]["errors"] == workload["errors"]


def test_described() -> None:
    tree = described(llama(), passed_over={"Service": 2})
    (workload,) = tree["workloads"]
    assert tree["passedOver"] == {"Service": 2}
    assert workload["totals"] == {"pods": 3, "cpu": "24", "memory": "192Gi", GPU: "12"}
    assert workload["gangGroups"] == [{"count": 1, "members": {"leader": 1, "worker": 2}, "further": False}]
    assert workload["status"] is None
    assert workload["roles"][1] == {
        "name": "worker",
        "replicas": 2,
        "minReplicas": 2,
        "maxReplicas": None,
        "requests": {"cpu": "8", "memory": "64Gi", GPU: "4"},
        "deviceClaims": {},
        "claims": [],
        "startsAfter": None,
        "injected": False,
        "live": None,
    }


def test_described_with_everything() -> None:
    (workload,) = described(everything())["workloads"]
    leader, worker, proxy = workload["roles"]
    assert leader["deviceClaims"] is None
    assert leader["claims"] == [
        {"name": "gpu", "resourceClaimName": None, "resourceClaimTemplateName": "one-gpu", "devices": None},
        {
            "name": "nic",
            "resourceClaimName": "shared",
            "resourceClaimTemplateName": None,
            "devices": {"nic": 2},
        },
    ]
    assert workload["sharedClaims"] == [
        {"claim": "shared", "claims": 1, "devices": {"nic": 2}, "sharedBy": {"leader": 1}}
    ]
    assert workload["totals"]["deviceClaims"] is None
    apart = {"pods": 1, "ready": 0, "finished": 0, "failed": 0, "nodes": {"gpu-2": 1}}
    status = {"phase": "Working", "matched": ["Running"], "podsWithoutRole": 1, "withoutRole": apart}
    assert workload["status"] == status
    assert leader["live"] == {"pods": 1, "ready": 1, "finished": 2, "failed": 1, "nodes": {"gpu-1": 1}}
    assert leader["requests"] == {"cpu": "500m"}
    assert (worker["minReplicas"], worker["maxReplicas"], worker["startsAfter"]) == (2, 8, "leader")
    assert proxy["injected"]
    assert workload["minAvailable"] == 3
    assert workload["unsupported"] == [{"path": "spec.runPolicy.schedulingPolicy", "text": "a queue of Volcano"}]
    assert workload["notes"] == [
        {"path": "spec.replicas", "rule": "default", "text": "nothing is said, so one leader"},
        {"path": None, "rule": "version", "text": "another version"},
    ]


def test_the_schema_knows_every_word_of_the_vocabulary() -> None:
    definitions = schemas.validator("PlacementReport").schema["$defs"]
    listed, pattern = definitions["reason"]["properties"]["code"]["anyOf"]
    assert listed["enum"] == sorted(code for code in CODES if "<" not in code)
    assert pattern == {"pattern": "^insufficient-.+$"}
    assert definitions["remark"]["properties"]["code"]["enum"] == sorted(NOTES)
    assert set(VERDICTS) <= set(definitions["verdict"]["enum"])


@pytest.mark.parametrize("kind", ["PlacementReport", "WorkloadReport", "ScenarioReport"])
def test_the_schema_describes_every_field(kind: str) -> None:
    bare = [path for path, schema in _fields(schemas.validator(kind).schema) if not _described(schema, kind)]
    assert bare == []


def _fields(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(schema, dict):
        for name, found in schema.get("properties", {}).items():
            yield f"{path}.{name}", found
        for key, found in schema.items():
            yield from _fields(found, f"{path}/{key}")


def _described(schema: Any, kind: str) -> bool:
    if schema.get("$ref", "").startswith("urn:"):
        return True
    if "$ref" in schema:
        schema = schemas.validator(kind).schema["$defs"][schema["$ref"].rpartition("/")[2]]
    return "description" in schema or "const" in schema or set(schema) == {"type", "minimum"}


def test_the_schema_refuses_what_nobody_promised() -> None:
    tree = json.placement_report(placed(), 0)
    with pytest.raises(schemas.ValidationError):
        schemas.check({**tree, "surprise": 1})
    with pytest.raises(schemas.ValidationError):
        schemas.check({**tree, "exitCode": "0"})
