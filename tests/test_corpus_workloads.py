"""Every public manifest gives the roles, numbers, requests, gangs and claims that are known to be right."""

from __future__ import annotations

import pytest

from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.errors import InputError
from tests import corpus, truth
from tests.truth import MENDED, REFUSED, Aspect, Public

FILES = truth.public()
pytestmark = [pytest.mark.corpus, corpus.needed]

READ = [one for one in FILES if one.name not in REFUSED and not one.is_lost]
REFERRING = [one for one in READ if one.elsewhere]


WRONG = {
    "mpi-launcher-as-node-ddp-sft": "manager",
    "cloudrun-nim-nemotron": "name",
    "income-alibi-explainer": "cpu",
    "stateful-gpu-defaults": "name",
    "tensorflow-notebook-v1beta1": "selector",
}
"""Where the fault of a file stands that is mended."""


def title(one: Public) -> str:
    return one.title


@pytest.mark.parametrize("aspect", truth.ASPECTS, ids=lambda aspect: aspect.__name__)
@pytest.mark.parametrize("one", READ, ids=title)
def test_it_is_what_is_expected(one: Public, aspect: Aspect) -> None:
    for workload, wanted in one.pairs():
        assert not workload.faults
        found, right = aspect(workload, wanted)
        assert found == right


@pytest.mark.parametrize("one", [one for one in FILES if one.name in REFUSED], ids=title)
def test_what_is_refused_says_why(one: Public) -> None:
    with pytest.raises(InputError, match=REFUSED[one.name]):
        for workload, _ in one.pairs():
            raise InputError.of(workload.faults)


@pytest.mark.parametrize("one", [*REFERRING, *(one for one in FILES if one.is_lost)], ids=title)
def test_without_the_object_on_which_the_pods_depend_nobody_knows_them(one: Public) -> None:
    (workload,) = reading.read(one.documents(), Catalog()).workloads
    (wanted,) = (one["requiresRuntime"] for one in one.wanted)
    assert workload.roles == ()
    assert [missing.title for missing in workload.lacking] == [f"{wanted['kind']} {wanted['name']}"]


@pytest.mark.parametrize("one", [one for one in FILES if one.name in MENDED], ids=title)
def test_what_a_webhook_refuses_is_a_fault(one: Public) -> None:
    (workload,) = reading.read(one.documents(mended=False), Catalog(), further=one.runtimes).workloads
    assert {fault.path[-1] for fault in workload.faults} == {WRONG[one.name]}
