"""AdmissionReview to `Request`: what is understood, and what is refused with every fault."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.errors import InputError
from advisor.server import request
from tests.server.asking import body, creation, job, removal


def test_a_creation_names_its_object() -> None:
    asked = creation(job("train"), uid="17", dryRun=True)
    assert (asked.uid, asked.operation, asked.dry_run) == ("17", "CREATE", True)
    assert (asked.key.group, asked.key.kind, asked.key.namespace, asked.key.name) == ("batch", "Job", "team", "train")


def test_a_name_that_the_server_made_up_is_that_of_the_object() -> None:
    assert creation(job("train-x7"), name="").key.name == "train-x7"


def test_an_object_without_a_name_goes_by_its_request() -> None:
    unnamed = job()
    unnamed["metadata"] = {"generateName": "train-"}
    assert creation(unnamed, uid="17").key.name == "17"


def test_a_deleted_object_is_the_old_one() -> None:
    asked = removal(job("train"), name="")
    assert (asked.key.name, asked.object) == ("train", None)


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({"uid": ""}, ["request.uid"]),
        ({"uid": 17}, ["request.uid"]),
        ({"operation": "PATCH"}, ["request.operation"]),
        ({"kind": None}, ["request.kind.kind"]),
        ({"kind": []}, ["request.kind"]),
        ({"object": None}, ["request.object"]),
        ({"object": [1]}, ["request.object"]),
        ({"oldObject": "x"}, ["request.oldObject"]),
        ({"namespace": {}, "name": 3}, ["request.namespace", "request.name"]),
    ],
)
def test_every_fault_is_said(change: dict[str, Any], faults: list[str]) -> None:
    review = body("CREATE", job())
    review["request"] |= change
    with pytest.raises(InputError) as caught:
        request.parse(review)
    assert [".".join(map(str, fault.path)) for fault in caught.value.faults] == faults


@pytest.mark.parametrize(
    "review",
    [
        None,
        [],
        "AdmissionReview",
        {},
        {"kind": "AdmissionReview"},
        {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1beta1", "request": {}},
        {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"},
        {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": []},
        {"kind": "TokenReview", "apiVersion": "admission.k8s.io/v1", "request": {}},
    ],
)
def test_what_is_no_review_is_refused(review: Any) -> None:
    with pytest.raises(InputError):
        request.parse(review)
