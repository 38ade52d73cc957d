"""Objects of Kubernetes itself: what a real API server refuses is a fault where it says so, and nothing else is one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from advisor import files
from advisor.definitions import layers, profile_schema, reading
from advisor.definitions.catalog import Catalog
from advisor.definitions.doomed import RULE
from advisor.errors import InputError
from tests import corpus
from tests.servers.apiserver import ApiServer
from tests.servers.client import RefusedError
from tests.servers.pool import Servers
from tests.test_catalog import FILES
from tests.truth import MENDED, public

Object = dict[str, Any]
CONTAINER = {"name": "main", "image": "x"}
VERSIONS = {"Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "Pod": "v1"}
CORE = {*((version, kind) for kind, version in VERSIONS.items()), ("batch/v1", "Job"), ("batch/v1", "CronJob")}
LONG = "a" * 63


def pod(**spec: Any) -> Object:
    return {"spec": {"containers": [CONTAINER], **spec}}


def made(kind: str, spec: Object, **metadata: Any) -> Object:
    version = VERSIONS.get(kind, "batch/v1")
    return {"apiVersion": version, "kind": kind, "metadata": metadata or {"name": "x"}, "spec": spec}


def bare(*, metadata: Object | None = None, **spec: Any) -> Object:
    return made("Pod", pod(**spec)["spec"], **(metadata or {}))


def served(kind: str, *, template: Object | None = None, metadata: Object | None = None, **spec: Any) -> Object:
    """A Deployment and its like."""
    whole = {"metadata": {"labels": {"a": "1", "b": "2"}}, **(template or pod())}
    return made(kind, {"selector": {"matchLabels": {"a": "1"}}, "template": whole, **spec}, **(metadata or {}))


def work(*, template: Object | None = None, **spec: Any) -> Object:
    return {"template": template or pod(restartPolicy="Never"), **spec}


def job(*, metadata: Object | None = None, **spec: Any) -> Object:
    return made("Job", work(**spec), **(metadata or {}))


def indexed(**spec: Any) -> Object:
    return job(completionMode="Indexed", completions=4, parallelism=2, **spec)


def cron(*, of: Object | None = None, metadata: Object | None = None, **spec: Any) -> Object:
    whole = {"schedule": "0 2 * * *", "jobTemplate": {"spec": of or work()}, **spec}
    return made("CronJob", {key: value for key, value in whole.items() if value is not None}, **(metadata or {}))


def failing(*rules: Any, **spec: Any) -> Object:
    return job(podFailurePolicy={"rules": list(rules)}, **spec)


def on(**rule: Any) -> Object:
    return {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1, 2], **rule}}


def expressed(operator: str, key: str = "a", **of: Any) -> Object:
    return {"matchExpressions": [{"key": key, "operator": operator, **of}]}


KINDS = ("Deployment", "ReplicaSet", "StatefulSet")
RIGHT = [
    *(served(kind) for kind in KINDS),
    *(served(kind, template=pod(restartPolicy="Always")) for kind in KINDS),
    *(served(kind, selector=expressed("In", values=["1", "3"])) for kind in KINDS),
    served("Deployment", selector=expressed("Exists")),
    served("Deployment", selector=expressed("DoesNotExist", "c")),
    served("Deployment", selector=expressed("NotIn", values=["2"])),
    served("Deployment", metadata={"name": "a.b-c"}),
    served("Deployment", metadata={"name": "a" * 253}),
    served("Deployment", metadata={"generateName": "a-"}),
    served("Deployment", metadata={"generateName": "a" * 200}),
    served("Deployment", metadata={"name": "x", "annotations": {"Example.com/A": "a b"}}),
    served("Deployment", strategy={"type": "Recreate"}),
    served("Deployment", strategy={"rollingUpdate": {"maxUnavailable": 0, "maxSurge": "25%"}}),
    served("Deployment", strategy={"rollingUpdate": {"maxUnavailable": "0%"}}),
    served("Deployment", minReadySeconds=10, progressDeadlineSeconds=11, revisionHistoryLimit=0),
    served("StatefulSet", podManagementPolicy="Parallel", serviceName=""),
    served("StatefulSet", updateStrategy={"type": "OnDelete"}, ordinals={"start": 3}),
    served("StatefulSet", metadata={"name": LONG}, revisionHistoryLimit=-1),
    served("ReplicaSet", template=pod(containers=[{**CONTAINER, "resources": {"requests": {"cpu": " 1 "}}}])),
    served("StatefulSet", updateStrategy={"rollingUpdate": {"partition": 0, "maxUnavailable": "50%"}}),
    job(metadata={"name": LONG}),
    job(
        metadata={"name": "a" * 64},
        manualSelector=True,
        selector={"matchLabels": {"a": "1"}},
        template={"metadata": {"labels": {"a": "1"}}, **work()["template"]},
    ),
    indexed(successPolicy={"rules": [{"succeededIndexes": "0,2-3", "succeededCount": 3}]}),
    served("StatefulSet", persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"}),
    served(
        "StatefulSet",
        template=pod(containers=[{**CONTAINER, "volumeMounts": [{"name": "data", "mountPath": "/d"}]}]),
        volumeClaimTemplates=[
            {
                "metadata": {"name": "data"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }
        ],
    ),
    *(bare(restartPolicy=policy) for policy in ("Always", "OnFailure", "Never", "")),
    bare(metadata={"generateName": "probe-"}),
    job(),
    job(template=pod(restartPolicy="OnFailure")),
    job(suspend=True, parallelism=0, completions=0, backoffLimit=0, ttlSecondsAfterFinished=0),
    job(activeDeadlineSeconds=2**40),
    job(completionMode="Indexed"),
    job(completionMode="Indexed", metadata={"name": LONG[:61]}),
    job(completionMode="NonIndexed", metadata={"name": "a.b"}),
    job(
        manualSelector=True,
        selector={"matchLabels": {"a": "1"}},
        template={"metadata": {"labels": {"a": "1"}}, **work()["template"]},
    ),
    job(selector={"matchLabels": {"job-name": "x"}}),
    job(selector={}),
    job(managedBy="example.com/Mine/too"),
    job(podReplacementPolicy="TerminatingOrFailed"),
    indexed(backoffLimitPerIndex=1, maxFailedIndexes=4),
    indexed(successPolicy={"rules": [{"succeededIndexes": "0,2-3", "succeededCount": 1}]}),
    failing(on(), {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}),
    failing(on(operator="NotIn", values=[0], containerName="main"), podReplacementPolicy="Failed"),
    cron(),
    *(
        cron(schedule=text)
        for text in (
            *("@hourly", "@every 1h30m", "*/5 * * * *", "1-5/2,7 0 1 jan-DEC mon,FRI", "? ? * * ?", "0/15 * * * 6"),
            *("  0  2 * * 0 ", "*-7 * * * *", ",,1 * * * *", "+5 * * * *", "@every -5m", "05 * * * *"),
        )
    ),
    *(cron(timeZone=zone) for zone in ("Europe/Berlin", "Etc/UTC", "US/Pacific", "Etc/GMT+5", "UTC", "EST5EDT")),
    cron(metadata={"name": "a" * 52}),
    cron(metadata={"generateName": "a" * 47}),
    cron(concurrencyPolicy="Forbid", startingDeadlineSeconds=0, suspend=True),
]
WRONG = [
    *((served(kind, selector=None), "spec.selector") for kind in KINDS),
    *((served(kind, selector={}), "spec.selector") for kind in KINDS),
    *((served(kind, selector={"matchLabels": {"a": "2"}}), "spec.selector") for kind in KINDS),
    *((served(kind, template=pod(restartPolicy="Never")), "spec.template.spec.restartPolicy") for kind in KINDS),
    *(
        (served(kind, template=pod(activeDeadlineSeconds=5)), "spec.template.spec.activeDeadlineSeconds")
        for kind in KINDS
    ),
    *((served(kind, minReadySeconds=-1), "spec.minReadySeconds") for kind in KINDS),
    *(
        (served(kind, template=pod(containers=[{"name": "main"}])), "spec.template.spec.containers[0].image")
        for kind in KINDS
    ),
    (served("Deployment", selector=expressed("In")), "spec.selector.matchExpressions[0].values"),
    (served("Deployment", selector=expressed("Exists", values=["1"])), "spec.selector.matchExpressions[0].values"),
    (served("Deployment", selector=expressed("Is")), "spec.selector.matchExpressions[0].operator"),
    (served("Deployment", selector=expressed("Exists", "-")), "spec.selector.matchExpressions[0].key"),
    (served("Deployment", selector=expressed("DoesNotExist")), "spec.selector"),
    (served("Deployment", selector=expressed("NotIn", values=["1"])), "spec.selector"),
    *(
        (served("Deployment", metadata={"name": name}), "metadata.name")
        for name in ("Bad_Name", "a..b", "-a", "a" * 254)
    ),
    (served("Deployment", metadata={"labels": {"a": "1"}}), "metadata.name"),
    *((served("Deployment", metadata={"generateName": name}), "metadata.generateName") for name in ("A-", "a_", "a.")),
    (served("Deployment", metadata={"name": "x", "labels": {"a b": "1"}}), 'metadata.labels["a b"]'),
    (served("Deployment", metadata={"name": "x", "labels": {"a": "-"}}), "metadata.labels.a"),
    (served("Deployment", metadata={"name": "x", "annotations": {"a b": "1"}}), 'metadata.annotations["a b"]'),
    (served("Deployment", metadata={"name": "x", "annotations": {"a": "b" * 2**18}}), "metadata.annotations"),
    (served("Deployment", strategy={"type": "Blue"}), "spec.strategy.type"),
    (served("Deployment", strategy={"type": "Recreate", "rollingUpdate": {}}), "spec.strategy.rollingUpdate"),
    (
        served("Deployment", strategy={"rollingUpdate": {"maxUnavailable": 0, "maxSurge": "0%"}}),
        "spec.strategy.rollingUpdate.maxUnavailable",
    ),
    (
        served("Deployment", strategy={"rollingUpdate": {"maxUnavailable": "101%"}}),
        "spec.strategy.rollingUpdate.maxUnavailable",
    ),
    (served("Deployment", strategy={"rollingUpdate": {"maxSurge": "1"}}), "spec.strategy.rollingUpdate.maxSurge"),
    (served("Deployment", minReadySeconds=9, progressDeadlineSeconds=9), "spec.progressDeadlineSeconds"),
    *((served("StatefulSet", metadata={"name": name}), "metadata.name") for name in ("a.b", "a" * 64)),
    (served("StatefulSet", metadata={"generateName": "a.b-"}), "metadata.generateName"),
    (served("StatefulSet", podManagementPolicy="Wild"), "spec.podManagementPolicy"),
    (served("StatefulSet", updateStrategy={"type": "Blue"}), "spec.updateStrategy.type"),
    (
        served("StatefulSet", updateStrategy={"type": "OnDelete", "rollingUpdate": {}}),
        "spec.updateStrategy.rollingUpdate",
    ),
    (served("StatefulSet", ordinals={"start": -1}), "spec.ordinals.start"),
    (served("StatefulSet", updateStrategy={"type": "Recreate"}), "spec.updateStrategy.type"),
    *(
        (
            served("StatefulSet", updateStrategy={"rollingUpdate": {field: value}}),
            f"spec.updateStrategy.rollingUpdate.{field}",
        )
        for field, value in (
            ("partition", -1),
            ("maxUnavailable", 0),
            ("maxUnavailable", "x"),
            ("maxUnavailable", "0%"),
        )
    ),
    (served("Deployment", revisionHistoryLimit=-1), "spec.revisionHistoryLimit"),
    (job(metadata={"name": "a" * 64}), "metadata.name"),
    (
        indexed(successPolicy={"rules": [{"succeededIndexes": "0,2-3", "succeededCount": 4}]}),
        "spec.successPolicy.rules[0].succeededCount",
    ),
    (served("StatefulSet", serviceName="a.b"), "spec.serviceName"),
    (
        served("StatefulSet", persistentVolumeClaimRetentionPolicy={"whenScaled": "Keep"}),
        "spec.persistentVolumeClaimRetentionPolicy.whenScaled",
    ),
    (
        served(
            "StatefulSet", template=pod(containers=[{**CONTAINER, "volumeMounts": [{"name": "d", "mountPath": "/d"}]}])
        ),
        "spec.template.spec.containers[0].volumeMounts[0].name",
    ),
    (bare(restartPolicy="Sometimes"), "spec.restartPolicy"),
    (bare(dnsPolicy="Sometimes"), "spec.dnsPolicy"),
    (bare(containers=[{**CONTAINER, "imagePullPolicy": "Sometimes"}]), "spec.containers[0].imagePullPolicy"),
    (bare(metadata={"name": "Bad_Name"}), "metadata.name"),
    *(
        (job(template=pod(**policy)), "spec.template.spec.restartPolicy")
        for policy in ({}, {"restartPolicy": "Always"})
    ),
    (job(template=pod(restartPolicy="Sometimes")), "spec.template.spec.restartPolicy"),
    (job(backoffLimitPerIndex=1), "spec.backoffLimitPerIndex"),
    (job(completionMode="NonIndexed", backoffLimitPerIndex=1), "spec.backoffLimitPerIndex"),
    (job(completionMode="Indexed", parallelism=2), "spec.completionMode"),
    (job(completionMode="Sorted"), "spec.completionMode"),
    (job(completionMode="Indexed", completions=11, metadata={"name": LONG[:61]}), "metadata.name"),
    (job(completionMode="Indexed", metadata={"name": "a.b"}), "metadata.name"),
    *(
        (made("Job", work() | {field: -1}), f"spec.{field}")
        for field in ("backoffLimit", "ttlSecondsAfterFinished", "activeDeadlineSeconds")
    ),
    *(
        (job(managedBy=name), "spec.managedBy")
        for name in ("mine", "", "Example.com/a", "example.com/" + LONG, "e.com/ ")
    ),
    (job(podReplacementPolicy="Never"), "spec.podReplacementPolicy"),
    (failing(on(), podReplacementPolicy="TerminatingOrFailed"), "spec.podReplacementPolicy"),
    (failing(on(), template=pod(restartPolicy="OnFailure")), "spec.podFailurePolicy"),
    (failing({"action": "Stop", **on()} | {"action": "Stop"}), "spec.podFailurePolicy.rules[0].action"),
    (failing({"action": "Count"}), "spec.podFailurePolicy.rules[0]"),
    (failing(on() | {"action": "FailIndex"}), "spec.podFailurePolicy.rules[0].action"),
    (failing(on(operator="Is")), "spec.podFailurePolicy.rules[0].onExitCodes.operator"),
    (failing(on(values=[])), "spec.podFailurePolicy.rules[0].onExitCodes.values"),
    (failing(on(values=[2, 1])), "spec.podFailurePolicy.rules[0].onExitCodes.values"),
    (failing(on(values=[0])), "spec.podFailurePolicy.rules[0].onExitCodes.values[0]"),
    (failing(on(containerName="y")), "spec.podFailurePolicy.rules[0].onExitCodes.containerName"),
    (
        failing({"action": "Count", "onPodConditions": [{"type": "A", "status": "Maybe"}]}),
        "spec.podFailurePolicy.rules[0].onPodConditions[0].status",
    ),
    (indexed(maxFailedIndexes=1), "spec.maxFailedIndexes"),
    (indexed(backoffLimitPerIndex=1, maxFailedIndexes=5), "spec.maxFailedIndexes"),
    (job(successPolicy={"rules": [{"succeededCount": 1}]}), "spec.successPolicy"),
    (indexed(successPolicy={"rules": []}), "spec.successPolicy.rules"),
    (indexed(successPolicy={"rules": [{}]}), "spec.successPolicy.rules[0]"),
    (indexed(successPolicy={"rules": [{"succeededCount": 5}]}), "spec.successPolicy.rules[0].succeededCount"),
    (indexed(successPolicy={"rules": [{"succeededIndexes": "a"}]}), "spec.successPolicy.rules[0].succeededIndexes"),
    (indexed(successPolicy={"rules": [{"succeededIndexes": "2-9"}]}), "spec.successPolicy.rules[0].succeededIndexes"),
    (job(completionMode="Indexed", completions=200000, backoffLimitPerIndex=1), "spec.maxFailedIndexes"),
    (job(completionMode="Indexed", completions=2, parallelism=200000), "spec.parallelism"),
    (job(selector={"matchLabels": {"a": "1"}}), "spec.selector"),
    (job(manualSelector=True), "spec.selector"),
    (job(manualSelector=True, selector={"matchLabels": {"a": "1"}}), "spec.selector"),
    (
        job(template={"metadata": {"labels": {"job-name": "y"}}, **work()["template"]}),
        "spec.template.metadata.labels.job-name",
    ),
    (
        job(template={"metadata": {"labels": {"controller-uid": "y"}}, **work()["template"]}),
        "spec.template.metadata.labels.controller-uid",
    ),
    (cron(of=work(template=pod())), "spec.jobTemplate.spec.template.spec.restartPolicy"),
    (cron(of=work(backoffLimitPerIndex=1)), "spec.jobTemplate.spec.backoffLimitPerIndex"),
    (cron(of=work(completionMode="Indexed")), "spec.jobTemplate.spec.completionMode"),
    (cron(of=work(selector={})), "spec.jobTemplate.spec.selector"),
    (cron(of=work(manualSelector=True)), "spec.jobTemplate.spec.manualSelector"),
    (cron(schedule=None), "spec.schedule"),
    *(
        (cron(schedule=text), "spec.schedule")
        for text in (
            *(
                "nonsense",
                "",
                "* * * *",
                "* * * * * *",
                "60 * * * *",
                "* * * * 7",
                "* * 0 * *",
                "5-1 * * * *",
                "*/0 * * * *",
            ),
            *(
                "1/2/3 * * * *",
                "1-2-3 * * * *",
                "* * * foo *",
                "@reboot",
                "@every",
                "@every 5",
                "@every  5m",
                "TZ=UTC * * * * *",
            ),
            *("CRON_TZ=UTC 0 2 * * *", "-5 * * * *", "L * * * *", "0 0 * * 1#2"),
        )
    ),
    *(
        (cron(timeZone=zone), "spec.timeZone")
        for zone in ("", "Local", "Mars/Base", "../etc", "/UTC", "europe/berlin", "A B")
    ),
    (cron(concurrencyPolicy="Sometimes"), "spec.concurrencyPolicy"),
    (cron(startingDeadlineSeconds=-1), "spec.startingDeadlineSeconds"),
    (cron(metadata={"name": "a" * 53}), "metadata.name"),
    (cron(metadata={"generateName": "a" * 48}), "metadata.generateName"),
]


def faults(manifest: Object) -> list[str]:
    found = reading.read(files.documents(files.Source("x.json", json.dumps(manifest))), Catalog()).workloads
    return [str(fault).split(": ")[0].partition(" ")[2] for workload in found for fault in workload.faults]


def doomed(manifest: Object) -> list[str]:
    """Places of warnings that the API server refuses the pods."""
    found = reading.read(files.documents(files.Source("x.json", json.dumps(manifest))), Catalog()).workloads
    return [note.path for workload in found for note in workload.notes if note.rule == RULE]


def told(manifest: Object) -> list[str]:
    """Places of faults, and of warnings that the API server refuses the pods: names may be placeholders."""
    return [*faults(manifest), *doomed(manifest)]


def refusal(server: ApiServer, manifest: Object, *, strict: bool = False) -> str:
    """What the server says to it; "" where it takes it. `strict`: unknown fields are refused, too."""
    asked = deepcopy(manifest)
    asked["metadata"]["namespace"] = "default"
    path = server.api.resource_of(asked).path("default")
    try:
        server.api.request("POST", f"{path}?dryRun=All{'&fieldValidation=Strict' if strict else ''}", asked)
    except RefusedError as error:
        return f"{error.status} {error.message}"
    return ""


def test_what_a_real_server_takes_has_no_faults(servers: Servers) -> None:
    server = servers.server()
    told = [(manifest, refusal(server, manifest), faults(manifest)) for manifest in RIGHT]
    assert [one for one in told if one[1] or one[2]] == []


def test_what_a_real_server_refuses_is_a_fault_at_its_place(servers: Servers) -> None:
    server = servers.server()
    told = [(manifest, path, refusal(server, manifest), faults(manifest)) for manifest, path in WRONG]
    assert [one for one in told if not one[2].startswith("422 ") or one[1] not in one[3]] == []


def examples() -> Iterator[Object]:
    for path in FILES:
        document = layers.builtin(path).entries[0].profile_document
        assert document
        for example in profile_schema.parse(document).spec.examples:
            yield json.loads(json.dumps(example.manifest))


@pytest.mark.corpus
@corpus.needed
def test_no_public_manifest_that_a_real_server_takes_has_faults(servers: Servers) -> None:
    """Nor has an example of the catalogue."""
    server = servers.server(more=("--allow-privileged=true",))
    found = [one.data for file in public() if file.name not in MENDED for one in reading.members(_documents(file))]
    for manifest in (*found, *examples()):
        if (manifest["apiVersion"], manifest["kind"]) in CORE:
            said = refusal(server, manifest)
            assert said or not faults(manifest), (said, faults(manifest))


def _documents(file: Any) -> list[files.Document]:
    try:
        found: list[files.Document] = file.documents()
    except InputError:
        return []
    return found


def test_what_a_real_server_has_stored_has_no_faults(servers: Servers) -> None:
    """With its defaults, its uid and what is made of that."""
    server = servers.server()
    for manifest in (job(), indexed(), cron(), bare(), *(served(kind) for kind in KINDS)):
        asked = deepcopy(manifest)
        asked["metadata"]["namespace"] = "default"
        stored = server.api.request("POST", f"{server.api.resource_of(asked).path('default')}?dryRun=All", asked)
        assert faults({**asked, **stored}) == []
