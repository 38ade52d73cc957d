"""What the API server would refuse in a pod template, with its place (kubernetes/pkg/apis/core/validation)."""

import json
from typing import Any

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.definitions.refused import check
from advisor.errors import InputError

MAIN = {"name": "main", "image": "x"}
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def faults(pod: dict[str, Any], *, whole: bool = False) -> list[str]:
    try:
        check(pod, whole)
    except InputError as error:
        return [str(fault).splitlines()[0] for fault in error.faults]
    return []


def spec(**fields: Any) -> dict[str, Any]:
    return {"spec": {"containers": [MAIN], **fields}}


def spread(**fields: Any) -> dict[str, Any]:
    return {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **fields}


def preferred(weight: Any) -> dict[str, Any]:
    return spec(affinity={"nodeAffinity": {PREFERRED: [{"weight": weight, "preference": {}}]}})


@pytest.mark.parametrize(
    ("pod", "fault"),
    [
        (spec(), None),
        (spec(containers=[MAIN, {"name": "side"}]), None),
        (spec(containers=[MAIN, MAIN]), 'spec.containers[1].name: "main" is there already'),
        (spec(initContainers=[MAIN]), 'spec.containers[0].name: "main" is there already'),
        (spec(containers=[{"name": "Main_1"}]), 'spec.containers[0].name: "Main_1" is no name'),
        (spec(containers=[{"name": "a" * 64}]), f'spec.containers[0].name: "{"a" * 64}" is no name'),
        (spec(containers=[{}]), "spec.containers[0].name: is required"),
        (spec(containers=[{**MAIN, "ports": [{"containerPort": 80, "hostPort": 65535}]}]), None),
        (
            spec(containers=[{**MAIN, "ports": [{"containerPort": 80, "hostPort": 70000}]}]),
            "spec.containers[0].ports[0].hostPort: 70000 is no port",
        ),
        (spec(volumes=[{"name": "a", "emptyDir": {}}, {"name": "b", "hostPath": None}]), None),
        (
            spec(volumes=[{"name": "a", "emptyDir": {}, "hostPath": {"path": "/"}}]),
            "spec.volumes[0]: has more than one type: emptyDir, hostPath",
        ),
        (spec(volumes=[{"name": "a"}, {"name": "a"}]), 'spec.volumes[1].name: "a" is there already'),
        (spec(topologySpreadConstraints=[spread(), spread(whenUnsatisfiable="ScheduleAnyway")]), None),
        (spec(topologySpreadConstraints=[spread(minDomains=2)]), None),
        (spec(topologySpreadConstraints=[spread(maxSkew=0)]), "spec.topologySpreadConstraints[0].maxSkew: must be"),
        (spec(topologySpreadConstraints=[spread(), spread()]), "spec.topologySpreadConstraints[1]: zone DoNotSchedule"),
        (preferred(1), None),
        (preferred(100), None),
        (preferred(0), f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight: must be 1 to 100"),
        (preferred(101), f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight: must be 1 to 100"),
        (spec(activeDeadlineSeconds=1), None),
        (spec(activeDeadlineSeconds=0), "spec.activeDeadlineSeconds: must be 1 at least"),
        (spec(nodeName="n", schedulingGates=[]), None),
        (spec(nodeName="n", schedulingGates=[{"name": "a/b"}]), "spec.nodeName: cannot be set beside schedulingGates"),
        (spec(os={"name": "windows"}), None),
        (spec(os={"name": "plan9"}), "spec.os.name: must be linux or windows"),
        ({**spec(), "metadata": {"labels": {"app.io/x": "a.b_c", "y": ""}}}, None),
        ({**spec(), "metadata": {"labels": {"a": "not valid!"}}}, 'metadata.labels.a: "not valid!" is no label value'),
        ({**spec(), "metadata": {"labels": {"a b": "c"}}}, 'metadata.labels["a b"]: is no label key'),
    ],
)
def test_what_no_controller_can_mend(pod: dict[str, Any], fault: str | None) -> None:
    found = faults(pod)
    assert (found == []) if fault is None else (len(found) == 1 and found[0].startswith(fault))


@pytest.mark.parametrize(
    ("pod", "fault"),
    [
        (spec(containers=[{"name": "main"}]), "spec.containers[0].image: is required"),
        (
            spec(
                containers=[{**MAIN, "volumeMounts": [{"name": "dat", "mountPath": "/d"}]}], volumes=[{"name": "data"}]
            ),
            'spec.containers[0].volumeMounts[0].name: "dat" is no volume of the pod',
        ),
    ],
)
def test_what_an_operator_might_fill_in(pod: dict[str, Any], fault: str) -> None:
    assert faults(pod) == []
    assert faults(pod, whole=True) == [fault]


def test_what_is_complete_has_no_faults() -> None:
    mounts = {"volumeMounts": [{"name": "data", "mountPath": "/d"}], "resources": {"claims": [{"name": "gpu"}]}}
    pod = spec(containers=[{**MAIN, **mounts}], volumes=[{"name": "data"}], resourceClaims=[{"name": "gpu"}])
    assert faults(pod, whole=True) == []


@pytest.mark.parametrize(("kind", "version", "found"), [("Deployment", "apps/v1", 1), ("StatefulSet", "apps/v1", 1)])
def test_which_kinds_must_be_complete(kind: str, version: str, found: int) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "main"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    manifest = {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}, "spec": spec}
    (workload,) = reading.read(files.documents(files.Source("x.json", json.dumps(manifest))), Catalog()).workloads
    assert len(workload.faults) == found
    if found:
        assert str(workload.faults[0]).startswith("x.json:1 spec.template.spec.containers[0].image: is required")


def term(selector: dict[str, Any] | None, **keys: list[str]) -> dict[str, Any]:
    found = {"topologyKey": "zone", **({} if selector is None else {"labelSelector": selector}), **keys}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [found]}}
    return {"metadata": {"labels": {"app": "x"}}, **spec(affinity=affinity)}


WHERE = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"


@pytest.mark.parametrize(
    ("pod", "fault"),
    [
        (term({"matchLabels": {"app": "x"}}), None),
        (term({"matchLabels": {"team": "a"}}, matchLabelKeys=["app"]), None),
        (
            term({"matchLabels": {"stage": "a"}}, matchLabelKeys=["stage"]),
            None,
        ),  # the pod has no such label: not folded
        (term({"matchLabels": {"app": "x"}}, mismatchLabelKeys=["app"]), None),
        (
            term({"matchLabels": {"app": "x"}}, matchLabelKeys=["app"]),
            f"{WHERE}.matchLabelKeys[0]: app is in the labelSelector too",
        ),
        (
            term({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, matchLabelKeys=["app"]),
            f"{WHERE}.matchLabelKeys[0]: app is in the labelSelector too",
        ),
        (
            term({}, matchLabelKeys=["app"], mismatchLabelKeys=["app"]),
            f"{WHERE}.matchLabelKeys[0]: app is in mismatchLabelKeys too",
        ),
        (
            term(None, matchLabelKeys=["app"]),
            f"{WHERE}.labelSelector: is required where matchLabelKeys or mismatchLabelKeys are given",
        ),
        (
            spec(containers=[{**MAIN, "ports": [{"containerPort": 0}]}]),
            "spec.containers[0].ports[0].containerPort: 0 is no port",
        ),
        (
            spec(containers=[{**MAIN, "volumeMounts": [{"name": n, "mountPath": "/a"} for n in "ab"]}]),
            "spec.containers[0].volumeMounts[1].mountPath: /a is there already",
        ),
        (spec(dnsPolicy="None"), "spec.dnsConfig.nameservers: must name a server where dnsPolicy is None"),
        (spec(dnsPolicy="None", dnsConfig={"nameservers": ["10.0.0.1"]}), None),
    ],
)
def test_more_that_a_pod_may_not_say(pod: dict[str, Any], fault: str | None) -> None:
    assert faults(pod) == ([fault] if fault else [])
