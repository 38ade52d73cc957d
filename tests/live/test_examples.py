"""Every example of the catalogue against the CustomResourceDefinition of its kind, as a real API server sees it."""

from __future__ import annotations

import pytest

from tests import corpus
from tests.live.test_refusals import CORE, Object, examples, refusal
from tests.servers import crds
from tests.servers.apiserver import ApiServer
from tests.servers.pool import Servers

EXAMPLES = list(examples())
KINDS = sorted({(str(one["apiVersion"]), str(one["kind"])) for one in EXAMPLES})


def definition(version: str, kind: str) -> Object | None:
    """Of the corpus, where it has one that serves this version."""
    group, _, wanted = version.rpartition("/")
    for _, one in corpus.custom_resources():
        spec = one["spec"]
        served = [each["name"] for each in spec["versions"] if each["served"]]
        if (spec["group"], spec["names"]["kind"]) == (group, kind) and wanted in served:
            return one
    return None


@pytest.mark.corpus
@corpus.needed
@pytest.mark.parametrize(("version", "kind"), KINDS)
def test_a_real_server_takes_the_examples_of_the_catalogue(servers: Servers, version: str, kind: str) -> None:
    """With every field known to it."""
    server = servers.server()
    if (version, kind) in CORE:
        check(server, version, kind)
        return
    one = definition(version, kind)
    if one is None:
        pytest.skip(f"the corpus has no CustomResourceDefinition of {kind} {version}")
    crds.install(server.api, [one])
    check(server, version, kind)


def check(server: ApiServer, version: str, kind: str) -> None:
    for manifest in EXAMPLES:
        if (manifest["apiVersion"], manifest["kind"]) == (version, kind):
            assert refusal(server, manifest, strict=True) == "", manifest["metadata"]
