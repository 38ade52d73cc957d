"""Reviews as tables: what is asked about, what is decided, and what is said, both sides of each."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from advisor.server import review
from advisor.server.config import Strictness
from advisor.server.store import Latest
from advisor.verdict import CODES
from tests.builders import TEAM, bound, cluster, node, nodes, noschedule, quota
from tests.server.asking import Object, Office, change, creation, deployment, job, office, owner_of, removal, trainjob


def one_node(**facts: Any) -> Office:
    return office(cluster(nodes=nodes(1, gpu=8), name="eu"), **facts)


# -- a creation -------------------------------------------------------------------------------------------------------


def test_what_fits_is_let_in_with_its_cluster() -> None:
    decision = one_node().review(creation(job(pods=1)))
    assert (decision.word, decision.allowed) == ("fits", True)
    assert decision.warnings == ("wm-place: fits eu (8 nvidia.com/gpu on 1 node, in any order)",)
    assert decision.audit == {"decision": "fits", "verdict": "fits", "cluster": "eu"}


def test_what_fits_nowhere_is_let_in_with_the_reason() -> None:
    decision = one_node().review(creation(job(pods=2)))
    assert (decision.word, decision.allowed) == ("fits-nowhere", True)
    assert decision.warnings[0] == "wm-place: no cluster can take all of it with the nodes that are there"
    assert decision.warnings[1].startswith("wm-place: eu never")
    assert decision.audit["reason"] in CODES or decision.audit["reason"].startswith("insufficient-")


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
@pytest.mark.parametrize("enforced", [False, True])
def test_what_depends_on_an_object_that_is_not_found_is_let_in_with_its_name(operation: str, enforced: bool) -> None:
    asked = trainjob()
    old = {**asked, "spec": {**asked["spec"], "suspend": True}}
    review = creation(asked) if operation == "CREATE" else change(old, asked)
    decision = one_node().review(review, enforced=enforced)
    assert (decision.word, decision.allowed) == ("fits-nowhere", True)
    assert decision.warnings[0] == "wm-place: cannot tell whether some cluster has room for all of it"
    assert "depend on ClusterTrainingRuntime torch" in decision.warnings[1]


def test_where_it_is_enforced_the_reason_refuses() -> None:
    decision = one_node().review(creation(job(pods=2)), enforced=True)
    assert (decision.word, decision.allowed, decision.warnings) == ("refused", False, ())
    assert decision.message.startswith("no cluster can take all of it with the nodes that are there; eu never: ")


def test_where_it_is_enforced_what_fits_is_let_in() -> None:
    assert one_node().review(creation(job(pods=1)), enforced=True).allowed


@pytest.mark.parametrize(
    ("gaps", "strictness", "allowed"),
    [
        (["pods"], Strictness(), True),
        (["pods"], Strictness(refuse_stale=True), True),
        (["pods"], Strictness(refuse_unknown=True), False),
        ([], Strictness(), False),
    ],
)
def test_what_nobody_knows_refuses_only_where_asked_to(gaps: list[str], strictness: Strictness, allowed: bool) -> None:
    here = office(
        cluster(nodes=nodes(1, gpu=2), name="eu"), cluster(nodes=[], gaps=gaps, name="us"), strictness=strictness
    )
    assert here.review(creation(job()), enforced=True).allowed == allowed


@pytest.mark.parametrize(("strictness", "allowed"), [(Strictness(), True), (Strictness(refuse_stale=True), False)])
def test_old_data_refuses_only_where_asked_to(strictness: Strictness, allowed: bool) -> None:
    here = office(cluster(nodes=nodes(1, gpu=2), name="eu"), strictness=strictness, max_age=60.0)
    here.clock.pass_by(61)
    decision = here.review(creation(job()), enforced=True)
    assert decision.allowed == allowed
    assert "was last read 61s ago" in " ".join((*decision.warnings, decision.message))


def test_a_cluster_that_was_never_read_is_named() -> None:
    here = one_node()
    here.snapshots.put(Latest("us"))
    decision = here.review(creation(job()))
    assert decision.warnings[1] == "wm-place: us not judged: was not read yet"


# -- what nobody asks about -------------------------------------------------------------------------------------------


CONTROLLER = {"username": "system:serviceaccount:jobset-system:jobset-controller-manager"}
JOBSETS = "jobset.x-k8s.io/v1alpha2"


def owned(api_version: str, kind: str, *, controller: bool = True) -> Object:
    """A Job that belongs to something."""
    owner = {"apiVersion": api_version, "kind": kind, "name": "x", "uid": "1", "controller": controller}
    return job(ownerReferences=[owner])


@pytest.mark.parametrize(
    ("obj", "facts", "word"),
    [
        (owned(JOBSETS, "JobSet"), {}, "waved-through"),
        (owned(JOBSETS, "JobSet"), {"userInfo": {"username": "system:kube-controller-manager"}}, "waved-through"),
        (owned(JOBSETS, "JobSet", controller=False), {}, "fits"),
        (owned("batch/v1", "CronJob"), {}, "fits"),  # each of its runs is a workload by itself
        (owned("orchestration.aibrix.ai/v1alpha1", "RayClusterReplicaSet"), {}, "waved-through"),  # of a fleet
        (owned("example.com/v1", "Pipeline"), {}, "fits"),  # nobody was asked about that one
        (job(), {"subResource": "status"}, "waved-through"),
        (job(pods=0), {}, "waved-through"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}, {}, "waved-through"),
        ({"apiVersion": "example.com/v1", "kind": "Gang", "metadata": {"name": "x"}}, {}, "waved-through"),
    ],
)
def test_some_are_waved_through_without_a_word(obj: Object, facts: dict[str, Any], word: str) -> None:
    decision = one_node().review(creation(obj, **{"userInfo": CONTROLLER, **facts}), enforced=True)
    assert (decision.word, decision.allowed) == (word, True)
    assert bool(decision.warnings) == (word == "fits")


@pytest.mark.parametrize("user", [None, {}, {"username": "alice"}, {"username": "system:anonymous"}])
def test_an_owner_that_somebody_writes_down_is_not_believed(user: object) -> None:
    """Neither at creation nor when what was let in as small grows."""
    forged, larger = owned(JOBSETS, "JobSet"), owned(JOBSETS, "JobSet")
    forged["spec"]["parallelism"] = 9
    forged["spec"]["completions"] = 9
    assert not one_node().review(creation(forged, userInfo=user), enforced=True).allowed
    assert not one_node().review(change(larger, forged, userInfo=user), enforced=True).allowed
    assert one_node().review(creation(forged, userInfo=CONTROLLER), enforced=True).allowed


UNREADABLE = {"name": "x", "resources": {"limits": {"cpu": "much"}}}


@pytest.mark.parametrize("enforced", [False, True])
@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"parallelism": "many"}, "spec.parallelism"),
        ({"parallelism": -1}, "spec.parallelism"),
        ({"template": {"spec": {"restartPolicy": "Never", "containers": [UNREADABLE]}}}, "cpu"),
    ],
)
def test_a_faulty_manifest_is_let_in_with_its_fault(spec: Object, said: str, enforced: bool) -> None:
    faulty = job()
    faulty["spec"] |= spec
    decision = one_node().review(creation(faulty), enforced=enforced)
    assert (decision.word, decision.allowed) == ("not-readable", True)
    assert said in decision.warnings[0]


def edited_job(**spec: Any) -> Object:
    found = job()
    found["spec"] |= spec
    return found


def many_templates() -> Object:
    """More than are read in time."""
    large = job()
    container = large["spec"]["template"]["spec"]["containers"][0]
    large["spec"]["more"] = [{"containers": [container]} for _ in range(101)]
    return large


@pytest.mark.parametrize("obj", [edited_job(parallelism="many"), many_templates()], ids=["faulty", "too-large"])
def test_what_cannot_be_judged_is_refused_only_where_the_unknown_is(obj: Object) -> None:
    lenient, strict = one_node(strictness=Strictness(refuse_stale=True)), one_node(strictness=Strictness(True))
    assert lenient.review(creation(obj), enforced=True).allowed
    assert strict.review(creation(obj)).allowed
    refused = strict.review(creation(obj), enforced=True)
    assert (refused.word, refused.allowed, refused.warnings) == ("refused", False, ())
    assert refused.message.startswith("cannot be read: ")


def test_an_object_that_is_none_is_let_in_with_a_word() -> None:
    decision = one_node().review(creation({"spec": {}}, kind={"group": "batch", "version": "v1", "kind": "Job"}))
    assert decision.allowed
    assert decision.warnings == ("wm-place: cannot be read: is no Kubernetes object: apiVersion is missing",)


def test_nothing_of_the_containers_is_repeated() -> None:
    secret = job(pods=2)
    container = secret["spec"]["template"]["spec"]["containers"][0]
    container |= {"env": [{"name": "TOKEN", "value": "hunter2"}], "args": ["--key=hunter2"]}
    container["resources"]["limits"]["nvidia.com/gpu"] = 9
    for enforced in (False, True):
        decision = one_node().review(creation(secret), enforced=enforced)
        assert "hunter2" not in repr((decision.warnings, decision.message, decision.audit))


# -- an update --------------------------------------------------------------------------------------------------------


def edited(obj: Object, **edits: Any) -> Object:
    new = deepcopy(obj)
    new["spec"] |= edits
    return new


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        (job(), job(labels={"team": "ml"}), "waved-through"),
        (job(), edited(job(), suspend=True), "waved-through"),
        (deployment(pods=2), deployment(pods=1), "waved-through"),
        (deployment(pods=2), deployment(pods=2, version="2"), "waved-through"),
        (deployment(pods=2), deployment(pods=3), "fits"),
        (deployment(pods=2), deployment(pods=4), "fits-nowhere"),
        (deployment(pods=1, gpu=4), deployment(pods=1, gpu=8), "fits"),
        (deployment(pods=1, gpu=4), deployment(pods=1, gpu=16), "fits-nowhere"),
    ],
)
def test_an_update_is_asked_about_as_far_as_it_adds_pods(old: Object, new: Object, word: str) -> None:
    """The old pods are there, on two of three nodes."""
    labels = {"app": "serve", "pod-template-hash": "7d9c4"}
    there = [bound(on=f"n{number}", labels=labels, owner=owner_of(labels), gpu=8) for number in (1, 2)]
    here = office(cluster(nodes=nodes(3, gpu=8), pods=there, name="eu"))
    assert here.review(change(old, new)).word == word


def test_what_joins_has_to_go_where_the_rest_is_expected() -> None:
    here = office(cluster(nodes=nodes(1, gpu=8), name="eu"), cluster(nodes=nodes(1, "u", gpu=8), name="us"))
    assert here.review(creation(deployment(pods=1))).audit["cluster"] == "eu"
    decision = here.review(change(deployment(pods=1), deployment(pods=2)))
    assert decision.word == "fits-nowhere"
    assert not any("us" in line.split()[1] for line in decision.warnings[1:])


def test_what_joins_is_not_counted_as_a_further_object() -> None:
    full = quota(hard={"count/deployments.apps": 1}, used={"count/deployments.apps": 1})
    one, more = deployment(pods=1, gpu=1), deployment(pods=2, gpu=1)
    words = [
        office(cluster(nodes=nodes(1, gpu=8), quotas=[full])).review(asked).word
        for asked in (creation(one), change(one, more))
    ]
    assert words == ["fits-nowhere", "fits"]


# -- the response -----------------------------------------------------------------------------------------------------


def test_a_yes_as_the_api_server_reads_it() -> None:
    asked = creation(job(), uid="17")
    found = review.response(asked, one_node().review(asked))
    assert (found["apiVersion"], found["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert found["response"]["uid"] == "17"
    assert found["response"]["allowed"] is True
    assert "status" not in found["response"]


def test_a_refusal_as_the_api_server_reads_it() -> None:
    asked = creation(job(pods=2))
    found = review.response(asked, one_node().review(asked, enforced=True))["response"]
    assert (found["allowed"], found["status"]["code"], found["status"]["reason"]) == (False, 403, "Forbidden")
    assert "nvidia.com/gpu" in found["status"]["message"]


def test_what_is_said_stays_within_the_limits_of_an_api_server() -> None:
    fleet = [
        cluster(
            nodes=[node(f"n-{number}", gpu=8, taints=[noschedule("a" * 63 + "/" + "b" * 63, "c" * 63)])],
            name=f"cluster-{number:03}",
        )
        for number in range(100)
    ]
    for decision in (
        office(*fleet).review(creation(job())),
        office(*fleet).review(creation(job()), enforced=True),
        office(cluster(nodes=[], name="x\n\x1b[31m" * 40)).review(creation(job())),
    ):
        assert all(len(line) <= 256 and line.isprintable() for line in decision.warnings)
        assert sum(len(line.encode()) for line in decision.warnings) < 4096
        assert len(decision.message.encode()) < 4096
    assert decision.warnings


def test_a_deletion_is_always_let_in() -> None:
    decision = one_node().review(removal(job()), enforced=True)
    assert (decision.word, decision.allowed, decision.warnings) == ("freed", True, ())


def test_the_namespace_of_the_request_decides() -> None:
    elsewhere = job()
    elsewhere["metadata"].pop("namespace")
    assert one_node().review(creation(elsewhere, namespace=TEAM)).word == "fits"
    assert one_node().review(creation(elsewhere, namespace="other")).audit["reason"] == "namespace-missing"


@pytest.mark.parametrize("field", ["env", "args", "command", "envFrom"])
@pytest.mark.parametrize("value", ["hunter2", ["hunter2"], [{"name": "A", "value": ["hunter2"]}], {"a": "hunter2"}])
def test_environment_and_arguments_are_never_repeated(field: str, value: Any) -> None:
    asked = job()
    asked["spec"]["template"]["spec"]["containers"][0][field] = value
    decision = office(cluster(nodes=nodes(1, gpu=8))).review(creation(asked), enforced=True)
    assert "hunter2" not in repr((decision.message, decision.warnings, decision.audit))
