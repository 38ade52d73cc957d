"""Fields that are noticed and not evaluated (capacity.md 0.3, 4.6, 4.7, 8.9)."""

from typing import Any

import pytest

from advisor.definitions.noticed import exposed, malformed, used
from advisor.errors import dotted

DISK = {"pdName": "d", "readOnly": True}
RESTART = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        (
            {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "gcePersistentDisk": DISK}]},
            "volumes[1].gcePersistentDisk",
        ),
        ({"volumes": [{"name": "a", "awsElasticBlockStore": {}}]}, "volumes[0].awsElasticBlockStore"),
        ({"volumes": [{"name": "a", "rbd": {}}]}, "volumes[0].rbd"),
        ({"volumes": [{"name": "a", "iscsi": {}}]}, "volumes[0].iscsi"),
        ({"volumes": [{"name": "a", "nfs": {}}, {"name": "b", "csi": {}}]}, ""),
        ({"containers": [{"restartPolicyRules": RESTART}]}, "containers[0].restartPolicyRules"),
        ({"initContainers": [{"restartPolicyRules": RESTART}]}, "initContainers[0].restartPolicyRules"),
        ({"containers": [{"restartPolicyRules": [{"action": "Restart"}]}]}, ""),
        (
            {"containers": [{"volumeMounts": [{"name": "a", "bindMountOptions": ["noexec"]}]}]},
            "containers[0].volumeMounts.bindMountOptions",
        ),
        ({"containers": [{"volumeMounts": [{"name": "a"}]}]}, ""),
        ({"hostNetwork": True, "hostUsers": False}, "hostUsers"),
        ({"hostNetwork": True, "hostUsers": True}, ""),
        ({"hostUsers": False}, ""),
    ],
)
def test_fields_that_no_rule_reads(spec: dict[str, Any], paths: str) -> None:
    assert used(spec) == ((f"spec.{paths}",) if paths else ())


def secure(**fields: Any) -> dict[str, Any]:
    return {"containers": [{"securityContext": fields}]}


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"hostNetwork": True}, "hostNetwork"),
        ({"hostPID": True}, "hostPID"),
        ({"hostIPC": True}, "hostIPC"),
        ({"hostIPC": False}, ""),
        ({"volumes": [{"name": "a", "hostPath": {"path": "/"}}]}, "volumes[0].hostPath"),
        ({"volumes": [{"name": "a", "emptyDir": {}}]}, ""),
        (secure(privileged=True), "containers[0].securityContext.privileged"),
        (secure(privileged=False), ""),
        (secure(capabilities={"add": ["IPC_LOCK"]}), "containers[0].securityContext.capabilities.add"),
        (secure(capabilities={"add": ["CHOWN", "NET_BIND_SERVICE"]}), ""),
        ({"initContainers": [{"ports": [{"containerPort": 1, "hostPort": 1}]}]}, "initContainers[0].ports[0].hostPort"),
        ({"containers": [{"ports": [{"containerPort": 1, "hostPort": 0}]}]}, ""),
    ],
)
def test_8_9_what_pod_security_forbids(spec: dict[str, Any], paths: str) -> None:
    assert exposed(spec) == ((f"spec.{paths}",) if paths else ())


def test_volumes_with_impossible_names() -> None:
    assert malformed({"volumes": [{"name": "ok-1"}]}) == ()
    found = malformed({"volumes": [{"name": "ok"}, {"name": "YOUR_VOLUME"}]})
    assert tuple(f"{dotted(one.path)}: {one.message}" for one in found) == (
        'spec.volumes[1].name: "YOUR_VOLUME" is no name',
    )
