"""What a null is, by real API servers: in Kubernetes' own kinds, in one with a schema, and in one without."""

from __future__ import annotations

import json

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from tests import corpus
from tests.definitions.builders import Object, asking, container, jobs, workspace
from tests.live.test_refusals import bare, doomed, faults, refusal, told
from tests.live.test_refused_pods import (
    APART,
    GPU,
    MAIN,
    REQUIRED,
    TERM,
    apart,
    check,
    contained,
    expression,
    on_nodes,
    secured,
    volume,
)
from tests.servers.pool import Servers


def template_of(**requests: int | None) -> Object:
    return {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": requests}}}}


PAIRS: list[tuple[Object, Object, str]] = [
    (
        asking(requests={"cpu": None}, limits={"cpu": "500"}),
        asking(requests={GPU: None}, limits={GPU: 1}),
        f"{MAIN}.resources.requests",
    ),
    (
        asking(requests={GPU: None}, limits={GPU: None}),
        asking(requests={"memory": "2Gi"}, limits={"memory": None}),
        f"{MAIN}.resources.requests.memory",
    ),
    (asking(limits={"cpu": None}), asking(requests={"a": None}), f"{MAIN}.resources.requests.a"),
    ({"nodeSelector": {"a": None}}, {"nodeSelector": {"a b": None}}, "nodeSelector"),
    ({"nodeSelector": {"a/b": "c"}}, {"nodeSelector": {"a": "b c"}}, "nodeSelector"),
    (
        {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [None]}}}},
        container(env=[None]),
        f"{MAIN}.env[0].name",
    ),
    (on_nodes(values=[None]), container(envFrom=[None]), f"{MAIN}.envFrom[0]"),
    (contained(capabilities={"add": [None]}), {"hostAliases": [None]}, "hostAliases[0]"),
    (container(args=[None]), {"readinessGates": [None]}, "readinessGates[0].conditionType"),
    ({"imagePullSecrets": [None]}, container(resizePolicy=[None]), f"{MAIN}.resizePolicy[0]"),
    (secured(supplementalGroups=[None]), secured(sysctls=[None]), "securityContext.sysctls[0].name"),
    (
        apart(labelSelector={"matchLabels": {"a": None}}),
        {"dnsConfig": {"options": [None]}},
        "dnsConfig.options[0].name",
    ),
    (
        apart(labelSelector=expression("In", "") | {"matchLabels": None}),
        apart(labelSelector={"matchExpressions": [None]}),
        f"{APART}.labelSelector",
    ),
    *(
        (container(), {field: [None]}, f"{field}[0]")
        for field in ("containers", "initContainers", "tolerations", "volumes", "schedulingGates", "resourceClaims")
    ),
    (container(), container(volumeMounts=[None]), f"{MAIN}.volumeMounts[0]"),
    (
        volume(ephemeral=template_of(storage=1)),
        volume(ephemeral=template_of(storage=None)),
        "volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests.storage",
    ),
    (container(), container(ports=[None]), f"{MAIN}.ports[0]"),
]


@pytest.mark.parametrize(("right", "wrong", "path"), PAIRS, ids=[f"{n}-{path}" for n, (_, _, path) in enumerate(PAIRS)])
def test_nulls_in_kinds_of_kubernetes(servers: Servers, right: Object, wrong: Object, path: str) -> None:
    check(servers.server(more=("--allow-privileged=true",)), right, wrong, path)


def test_a_null_quantity_is_zero_and_stated(servers: Servers) -> None:
    server = servers.server()
    asked = bare(metadata={"name": "x", "namespace": "default"}, **asking(requests={"cpu": None}, limits={"cpu": 500}))
    stored = server.api.request("POST", "/api/v1/namespaces/default/pods?dryRun=All", asked)
    assert stored["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "0"}
    found = reading.read(files.documents(files.Source("x.json", json.dumps(asked))), Catalog()).workloads
    assert found[0].roles[0].template.containers[0].requests == {"cpu": 0}


@pytest.mark.corpus
@corpus.needed
def test_nulls_in_a_kind_with_a_schema(servers: Servers) -> None:
    """It drops those of mappings, and refuses those of lists."""
    server = servers.server()
    server.install(corpus.FOLDER / "crds" / "jobset.yaml")
    for right in (
        asking(requests={GPU: None}, limits={GPU: 1}),
        asking(requests={"memory": "2Gi"}, limits={"memory": None}),
        {"nodeSelector": {"a b": None}},
        container(env=None),
    ):
        assert (refusal(server, jobs(**right)), told(jobs(**right))) == ("", [])
    for wrong, path in (
        (container(env=[None]), f"{MAIN}.env[0]"),
        (container(args=[None]), f"{MAIN}.args[0]"),
        (contained(capabilities={"add": [None]}), f"{MAIN}.securityContext.capabilities.add[0]"),
        (on_nodes(values=[None]), f"{TERM}.values[0]"),
        ({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [None]}}}}, TERM.rpartition(".")[0]),
        ({"imagePullSecrets": [None]}, "imagePullSecrets[0]"),
        ({"containers": [None]}, "containers[0]"),
    ):
        assert refusal(server, jobs(**wrong)).startswith("422 ")
        assert faults(jobs(**wrong)) == [f"spec.replicatedJobs[0].template.spec.template.spec.{path}"]


@pytest.mark.corpus
@corpus.needed
def test_nulls_where_a_schema_says_nothing(servers: Servers) -> None:
    """They are stored: the pods that are made of them are those of Kubernetes' own kinds."""
    server = servers.server()
    server.install(corpus.FOLDER / "crds" / "workspace.yaml")
    for right in (asking(requests={"cpu": None}, limits={"cpu": 5}), on_nodes(values=[None])):
        assert (refusal(server, workspace(**right)), told(workspace(**right))) == ("", [])
    for wrong, path in (
        (asking(requests={GPU: None}, limits={GPU: 1}), f'{MAIN}.resources.requests["{GPU}"]'),
        (container(envFrom=[None]), f"{MAIN}.envFrom[0]"),
    ):
        assert refusal(server, workspace(**wrong)) == ""
        assert (faults(workspace(**wrong)), doomed(workspace(**wrong))) == ([], [f"inference.template.spec.{path}"])
