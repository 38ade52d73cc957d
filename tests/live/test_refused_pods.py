"""Fields of pods: each pair is one that a real API server takes and one that it refuses, and so do we."""

from __future__ import annotations

from typing import Any

import pytest

from tests.definitions.builders import asking, container
from tests.live.test_refusals import CONTAINER, Object, bare, job, refusal, served, told
from tests.servers.apiserver import ApiServer
from tests.servers.pool import Servers

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
EXEC = {"exec": {"command": ["true"]}}


def early(**fields: Any) -> Object:
    return {"initContainers": [{"name": "first", "image": "x", **fields}]}


def tolerating(**fields: Any) -> Object:
    return {"tolerations": [{"key": "a", **fields}]}


def on_nodes(**expression: Any) -> Object:
    term = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"], **expression}]}
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}}


def rather_on(**term: Any) -> Object:
    return {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": term}]}}}


def apart(**term: Any) -> Object:
    whole = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"z": "1"}}, **term}
    return {"affinity": {"podAntiAffinity": {REQUIRED: [whole]}}}


def rather_apart(**term: Any) -> Object:
    whole = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"z": "1"}}, **term}
    return {"affinity": {"podAntiAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": whole}]}}}


def spread(**fields: Any) -> Object:
    whole = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", **fields}
    return {"topologySpreadConstraints": [whole]}


def volume(*mounts: Object, devices: list[Object] | None = None, secure: Object | None = None, **source: Any) -> Object:
    fields: Object = {"volumeMounts": [{"name": "v", **mount} for mount in mounts]}
    if devices:
        fields["volumeDevices"] = devices
    if secure:
        fields["securityContext"] = secure
    return {"volumes": [{"name": "v", **(source or {"emptyDir": {}})}], **container(**fields)}


def mount(**fields: Any) -> Object:
    return volume({"mountPath": "/v", **fields})


def env(name: str = "A", **fields: Any) -> Object:
    return container(env=[{"name": name, **fields}])


def csi(**fields: Any) -> Object:
    return volume(csi={"driver": "a", **fields})


def keyed(name: str) -> Object:
    return {"name": name, "key": "k"}


def secured(**fields: Any) -> Object:
    return {"securityContext": fields}


def contained(**fields: Any) -> Object:
    return container(securityContext=fields)


def expression(operator: str, *values: str) -> Object:
    return {"matchExpressions": [{"key": "a", "operator": operator, "values": list(values)}]}


GPU = "nvidia.com/gpu"
OF_LIMITS = {"resource": "limits.memory"}
FIELD = {"fieldPath": "metadata.name"}
MAIN = "containers[0]"
CSI = "volumes[0].csi"
TERM = f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0]"
RATHER = f"affinity.nodeAffinity.{PREFERRED}[0].preference"
APART = f"affinity.podAntiAffinity.{REQUIRED}[0]"
RATHER_APART = f"affinity.podAntiAffinity.{PREFERRED}[0].podAffinityTerm"
SPREAD = "topologySpreadConstraints[0]"

PAIRS: list[tuple[Object, Object, str]] = [
    (tolerating(operator="Exists"), tolerating(key="a b", operator="Exists"), "tolerations[0].key"),
    (tolerating(value="b"), tolerating(value="a b"), "tolerations[0].value"),
    (on_nodes(), on_nodes(key="a b"), f"{TERM}.key"),
    (on_nodes(values=["b", ""]), on_nodes(values=["b", "a b"]), f"{TERM}.values[1]"),
    (on_nodes(operator="Gt", values=["x"]), on_nodes(operator="Gt", values=["1", "2"]), TERM.rpartition(".")[0]),
    (rather_on(), rather_on(**expression("Equals", "b")), f"{RATHER}.matchExpressions[0].operator"),
    (rather_on(**expression("In", "a b")), rather_on(**expression("In")), f"{RATHER}.matchExpressions[0].values"),
    (
        rather_on(**expression("Lt", "x")),
        rather_on(**expression("Exists", "b")),
        f"{RATHER}.matchExpressions[0].values",
    ),
    (apart(), apart(topologyKey="a b"), f"{APART}.topologyKey"),
    (apart(namespaces=["a"]), apart(namespaces=["A_B"]), f"{APART}.namespaces[0]"),
    (apart(labelSelector=None), apart(labelSelector={"matchLabels": {"a b": "1"}}), f"{APART}.labelSelector"),
    (
        apart(labelSelector=expression("In", "1")),
        apart(labelSelector={"matchLabels": {"a": "b c"}}),
        f"{APART}.labelSelector",
    ),
    (apart(namespaceSelector={}), apart(namespaceSelector={"matchLabels": {"a b": "1"}}), f"{APART}.namespaceSelector"),
    (apart(matchLabelKeys=["zz"]), apart(matchLabelKeys=["a b"]), f"{APART}.matchLabelKeys[0]"),
    (rather_apart(), rather_apart(topologyKey=""), f"{RATHER_APART}.topologyKey"),
    (
        rather_apart(labelSelector=expression("Exists")),
        rather_apart(labelSelector=expression("Is")),
        f"{RATHER_APART}.labelSelector.matchExpressions[0].operator",
    ),
    (spread(nodeTaintsPolicy="Honor"), spread(nodeTaintsPolicy="Foo"), f"{SPREAD}.nodeTaintsPolicy"),
    (spread(nodeAffinityPolicy="Ignore"), spread(nodeAffinityPolicy="honor"), f"{SPREAD}.nodeAffinityPolicy"),
    (
        spread(labelSelector={}, matchLabelKeys=["zz"]),
        spread(matchLabelKeys=["zz"]),
        f"{SPREAD}.labelSelector",
    ),
    (spread(labelSelector={}), spread(labelSelector={"matchLabels": {"a b": "1"}}), f"{SPREAD}.labelSelector"),
    ({"schedulingGates": [{"name": "a.b/c"}]}, {"schedulingGates": [{"name": "a b"}]}, "schedulingGates[0].name"),
    (
        {"schedulingGates": [{"name": "a"}, {"name": "b"}]},
        {"schedulingGates": [{"name": "a"}, {"name": "a"}]},
        "schedulingGates[1].name",
    ),
    (
        {"resourceClaims": [{"name": "a", "resourceClaimName": "x"}]},
        {"resourceClaims": [{"name": "a", "resourceClaimName": "x", "resourceClaimTemplateName": "y"}]},
        "resourceClaims[0]",
    ),
    (
        container(ports=[{"containerPort": 80, "name": "a-b1"}]),
        container(ports=[{"containerPort": 80, "name": "a--b"}]),
        f"{MAIN}.ports[0].name",
    ),
    (
        container(ports=[{"containerPort": 80, "name": "a" * 15}]),
        container(ports=[{"containerPort": 80, "name": "a" * 16}]),
        f"{MAIN}.ports[0].name",
    ),
    (
        container(ports=[{"containerPort": 80, "name": "8a"}]),
        container(ports=[{"containerPort": 80, "name": "80"}]),
        f"{MAIN}.ports[0].name",
    ),
    (
        container(ports=[{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "b"}]),
        container(ports=[{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}]),
        f"{MAIN}.ports[1].name",
    ),
    (container(livenessProbe=EXEC), container(livenessProbe={}), f"{MAIN}.livenessProbe"),
    (
        container(readinessProbe={**EXEC, "successThreshold": 2}),
        container(livenessProbe={**EXEC, "successThreshold": 2}),
        f"{MAIN}.livenessProbe.successThreshold",
    ),
    (
        container(startupProbe={"httpGet": {"port": "http"}}),
        container(startupProbe={"httpGet": {"port": "8080"}}),
        f"{MAIN}.startupProbe.httpGet.port",
    ),
    (
        container(livenessProbe={"tcpSocket": {"port": 1}}),
        container(livenessProbe={"tcpSocket": {"port": 1}, **EXEC}),
        f"{MAIN}.livenessProbe",
    ),
    (
        container(livenessProbe={"grpc": {"port": 1}}),
        container(livenessProbe={"grpc": {"port": 70000}}),
        f"{MAIN}.livenessProbe.grpc.port",
    ),
    (
        container(livenessProbe={**EXEC, "terminationGracePeriodSeconds": 1}),
        container(readinessProbe={**EXEC, "terminationGracePeriodSeconds": 1}),
        f"{MAIN}.readinessProbe.terminationGracePeriodSeconds",
    ),
    (
        container(livenessProbe={**EXEC, "periodSeconds": 0}),
        container(livenessProbe={**EXEC, "periodSeconds": -1}),
        f"{MAIN}.livenessProbe.periodSeconds",
    ),
    (
        early(restartPolicy="Always", livenessProbe=EXEC),
        early(livenessProbe=EXEC),
        "initContainers[0].livenessProbe",
    ),
    (
        early(restartPolicy="Always", lifecycle={"preStop": EXEC}),
        early(lifecycle={"preStop": EXEC}),
        "initContainers[0].lifecycle",
    ),
    (
        container(lifecycle={"preStop": {"sleep": {"seconds": 30}}}),
        container(lifecycle={"preStop": {"sleep": {"seconds": 31}}}),
        f"{MAIN}.lifecycle.preStop.sleep.seconds",
    ),
    (container(lifecycle={"postStart": EXEC}), container(lifecycle={"postStart": {}}), f"{MAIN}.lifecycle.postStart"),
    (
        container(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}]),
        container(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}] * 2),
        f"{MAIN}.resizePolicy[1].resourceName",
    ),
    (env(value="1"), env("A=B"), f"{MAIN}.env[0].name"),
    (
        env(valueFrom={"fieldRef": {"fieldPath": "metadata.labels['a']"}}),
        env(valueFrom={"fieldRef": {"fieldPath": "spec.foo"}}),
        f"{MAIN}.env[0].valueFrom.fieldRef.fieldPath",
    ),
    (
        env(valueFrom={"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}),
        env(valueFrom={"fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.name"}}),
        f"{MAIN}.env[0].valueFrom.fieldRef.apiVersion",
    ),
    *(
        (
            env(valueFrom={"resourceFieldRef": {"resource": f"limits.{resource}", "divisor": right}}),
            env(valueFrom={"resourceFieldRef": {"resource": f"limits.{resource}", "divisor": wrong}}),
            f"{MAIN}.env[0].valueFrom.resourceFieldRef.divisor",
        )
        for resource, right, wrong in (
            ("cpu", "1m", "2"),
            ("cpu", "1", "1k"),
            ("cpu", "0", "1Ki"),
            ("memory", "1Mi", "1m"),
            ("memory", "1k", "2Ki"),
            ("ephemeral-storage", "1Ei", "3"),
        )
    ),
    (
        on_nodes(),
        {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}},
        f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms",
    ),
    (
        env(valueFrom={"resourceFieldRef": {"resource": "limits.hugepages-2Mi"}}),
        env(valueFrom={"resourceFieldRef": {"resource": "limits.nvidia.com/gpu"}}),
        f"{MAIN}.env[0].valueFrom.resourceFieldRef.resource",
    ),
    (
        env(valueFrom={"secretKeyRef": {"name": "a", "key": "k"}}),
        env(valueFrom={}),
        f"{MAIN}.env[0].valueFrom",
    ),
    (
        env(value="", valueFrom={"fieldRef": {"fieldPath": "status.podIP"}}),
        env(value="1", valueFrom={"fieldRef": {"fieldPath": "status.podIP"}}),
        f"{MAIN}.env[0].valueFrom",
    ),
    (
        container(envFrom=[{"prefix": "A_", "secretRef": {"name": "a"}}]),
        container(envFrom=[{"configMapRef": {"name": "a"}, "secretRef": {"name": "a"}}]),
        f"{MAIN}.envFrom[0]",
    ),
    (container(envFrom=[{"configMapRef": {"name": "a"}}]), container(envFrom=[{}]), f"{MAIN}.envFrom[0]"),
    (
        volume(emptyDir={"sizeLimit": 0}),
        volume(emptyDir={"sizeLimit": "-1"}),
        "volumes[0].emptyDir.sizeLimit",
    ),
    (
        volume(configMap={"name": "a", "defaultMode": 0o777}),
        volume(configMap={"name": "a", "defaultMode": 777}),
        "volumes[0].configMap.defaultMode",
    ),
    (
        volume(secret={"secretName": "a", "items": [{"key": "k", "path": "a/b"}]}),
        volume(secret={"secretName": "a", "items": [{"key": "k", "path": "a/../b"}]}),
        "volumes[0].secret.items[0].path",
    ),
    (volume(secret={"secretName": "a"}), volume(secret={"name": "a"}), "volumes[0].secret.secretName"),
    (volume(image={"reference": "a"}), volume(image={}), "volumes[0].image.reference"),
    (
        volume(projected={"sources": [{"configMap": {"name": "a"}}]}),
        volume(projected={"sources": [{"configMap": {}}]}),
        "volumes[0].projected.sources[0].configMap.name",
    ),
    (volume(hostPath={"path": "/x"}), volume(hostPath={"path": "/x/../y"}), "volumes[0].hostPath.path"),
    (volume(nfs={"server": "s", "path": "/x"}), volume(nfs={"server": "s", "path": "x"}), "volumes[0].nfs.path"),
    (
        volume(downwardAPI={"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.labels"}}]}),
        volume(downwardAPI={"items": [{"path": "a", "fieldRef": {"fieldPath": "status.podIP"}}]}),
        "volumes[0].downwardAPI.items[0].fieldRef.fieldPath",
    ),
    (
        {
            **volume(projected={"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 600}}]}),
            "serviceAccountName": "default",
        },
        volume(projected={"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 599}}]}),
        "volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds",
    ),
    (mount(subPath="a"), mount(subPath="../a"), f"{MAIN}.volumeMounts[0].subPath"),
    (mount(subPathExpr="a"), mount(subPath="a", subPathExpr="a"), f"{MAIN}.volumeMounts[0].subPathExpr"),
    (
        volume({"mountPath": "/v", "mountPropagation": "Bidirectional"}, secure={"privileged": True}),
        mount(mountPropagation="Bidirectional"),
        f"{MAIN}.volumeMounts[0].mountPropagation",
    ),
    (
        mount(recursiveReadOnly="Enabled", readOnly=True),
        mount(recursiveReadOnly="Enabled"),
        f"{MAIN}.volumeMounts[0].recursiveReadOnly",
    ),
    (
        volume(devices=[{"name": "v", "devicePath": "/d"}], persistentVolumeClaim={"claimName": "x"}),
        volume(devices=[{"name": "v", "devicePath": "/d"}]),
        f"{MAIN}.volumeDevices[0].name",
    ),
    (secured(fsGroup=0), secured(fsGroup=-1), "securityContext.fsGroup"),
    (secured(supplementalGroups=[1]), secured(supplementalGroups=[-1]), "securityContext.supplementalGroups[0]"),
    (
        secured(sysctls=[{"name": "net.core.somaxconn", "value": "1"}]),
        {**secured(sysctls=[{"name": "net.core.somaxconn", "value": "1"}]), "hostNetwork": True},
        "securityContext.sysctls[0].name",
    ),
    (
        secured(sysctls=[{"name": "a.b", "value": "1"}]),
        secured(sysctls=[{"name": "a b", "value": "1"}]),
        "securityContext.sysctls[0].name",
    ),
    (
        secured(seccompProfile={"type": "Localhost", "localhostProfile": "a"}),
        secured(seccompProfile={"type": "Localhost"}),
        "securityContext.seccompProfile.localhostProfile",
    ),
    (
        contained(appArmorProfile={"type": "RuntimeDefault"}),
        contained(appArmorProfile={"type": "Localhost"}),
        f"{MAIN}.securityContext.appArmorProfile.localhostProfile",
    ),
    (contained(runAsUser=2**31 - 1), contained(runAsUser=2**31), f"{MAIN}.securityContext.runAsUser"),
    (
        contained(privileged=True),
        contained(privileged=True, allowPrivilegeEscalation=False),
        f"{MAIN}.securityContext.allowPrivilegeEscalation",
    ),
    (
        {**contained(procMount="Unmasked"), "hostUsers": False},
        contained(procMount="Unmasked"),
        f"{MAIN}.securityContext.procMount",
    ),
    (
        {"os": {"name": "linux"}},
        {"os": {"name": "linux"}, **secured(windowsOptions={"runAsUserName": "x"})},
        "securityContext.windowsOptions",
    ),
    (
        {"os": {"name": "windows"}, **secured(windowsOptions={"runAsUserName": "x"})},
        {"os": {"name": "windows"}, **secured(fsGroup=1)},
        "securityContext.fsGroup",
    ),
    ({"shareProcessNamespace": True}, {"shareProcessNamespace": True, "hostPID": True}, "shareProcessNamespace"),
    ({"hostUsers": False}, {"hostUsers": False, "hostPID": True}, "hostPID"),
    ({"hostname": "a"}, {"hostname": "a.b"}, "hostname"),
    ({"subdomain": "a"}, {"subdomain": "A"}, "subdomain"),
    ({"hostnameOverride": "a.b"}, {"hostnameOverride": "a.b", "setHostnameAsFQDN": True}, "hostnameOverride"),
    (
        {"hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a.b"]}]},
        {"hostAliases": [{"ip": "010.0.0.1", "hostnames": ["a.b"]}]},
        "hostAliases[0].ip",
    ),
    (
        {"hostAliases": [{"ip": "::1", "hostnames": ["a"]}]},
        {"hostAliases": [{"ip": "::1", "hostnames": ["a b"]}]},
        "hostAliases[0].hostnames[0]",
    ),
    (
        {"dnsConfig": {"nameservers": ["1.1.1.1", "::1"], "searches": [".", "a_b.c."]}},
        {"dnsConfig": {"nameservers": ["fe80::1%eth0"]}},
        "dnsConfig.nameservers[0]",
    ),
    ({"dnsConfig": {"searches": ["a"]}}, {"dnsConfig": {"searches": ["a b"]}}, "dnsConfig.searches[0]"),
    (
        {"dnsConfig": {"nameservers": ["1.1.1.1"] * 3}},
        {"dnsConfig": {"nameservers": ["1.1.1.1"] * 4}},
        "dnsConfig.nameservers",
    ),
    (
        {"readinessGates": [{"conditionType": "a.b/c"}]},
        {"readinessGates": [{"conditionType": "a b"}]},
        "readinessGates[0].conditionType",
    ),
    ({"ephemeralContainers": []}, {"ephemeralContainers": [{"name": "e", "image": "x"}]}, "ephemeralContainers"),
    ({"resources": {"requests": {"cpu": "1"}}}, {"resources": {"claims": [{"name": "a"}]}}, "resources.claims"),
    *(
        (
            env(valueFrom={"resourceFieldRef": {"resource": f"limits.{resource}", "divisor": right}}),
            env(valueFrom={"resourceFieldRef": {"resource": f"limits.{resource}", "divisor": wrong}}),
            f"{MAIN}.env[0].valueFrom.resourceFieldRef.divisor",
        )
        for resource, right, wrong in (
            ("cpu", "0.001", "1n"),
            ("cpu", "1000m", "1e-3"),
            ("cpu", 1, "1e0"),
            ("cpu", "1000000n", "0.5m"),
            ("memory", "1000", "1024"),
            ("memory", "1024Ki", "1048576"),
            ("memory", "0.0009765625Ki", "1e3"),
            ("memory", "1000000k", "1000Ki"),
            ("hugepages-2Mi", "1Ei", "1n"),
        )
    ),
    (
        volume(downwardAPI={"items": [{"path": "a", "resourceFieldRef": {**OF_LIMITS, "containerName": "main"}}]}),
        volume(downwardAPI={"items": [{"path": "a", "resourceFieldRef": OF_LIMITS}]}),
        "volumes[0].downwardAPI.items[0].resourceFieldRef.containerName",
    ),
    (
        volume(projected={"sources": [{"downwardAPI": {"items": [{"path": "a", "fieldRef": FIELD}]}}]}),
        volume(projected={"sources": [{"downwardAPI": {"items": [{"path": "a"}]}}]}),
        "volumes[0].projected.sources[0].downwardAPI.items[0]",
    ),
    *(
        (
            container(**{field: [{**named, "name": "A"}] if field == "env" else [named]}),
            container(**{field: [{**long, "name": "A"}] if field == "env" else [long]}),
            f"{MAIN}.{path}.name",
        )
        for field, path, named, long in (
            (field, path, of("a" * 253), of("a" * 254))
            for field, path, of in (
                ("env", "env[0].valueFrom.secretKeyRef", lambda name: {"valueFrom": {"secretKeyRef": keyed(name)}}),
                (
                    "env",
                    "env[0].valueFrom.configMapKeyRef",
                    lambda name: {"valueFrom": {"configMapKeyRef": keyed(name)}},
                ),
                ("envFrom", "envFrom[0].configMapRef", lambda name: {"configMapRef": {"name": name}}),
                ("envFrom", "envFrom[0].secretRef", lambda name: {"secretRef": {"name": name}}),
            )
        )
    ),
    (csi(driver="A.b-c"), csi(driver="A B"), f"{CSI}.driver"),
    *(
        (csi(nodePublishSecretRef={"name": "a.b"}), csi(nodePublishSecretRef=wrong), f"{CSI}.nodePublishSecretRef.name")
        for wrong in ({}, {"name": "A B"})
    ),
    (csi(driver="a" * 63), csi(driver="a" * 64), f"{CSI}.driver"),
    (asking(limits={"b.c/A_d": "1"}), asking(limits={"A_b/C": "1"}), f"{MAIN}.resources.limits"),
    (asking(limits={"b.c/A_d": 0}), asking(limits={"A_b/C": 0}), f"{MAIN}.resources.limits"),
    (asking(limits={f"{'a' * 244}/b": 1}), asking(limits={f"{'a' * 245}/b": 1}), f"{MAIN}.resources.limits"),
    (
        {"resourceClaims": [{"name": "a", "resourceClaimName": "x"}], **asking(claims=[{"name": "a"}])},
        {"resourceClaims": [{"name": "a", "resourceClaimName": "x"}], **asking(claims=[{"name": "zz"}])},
        f"{MAIN}.resources.claims[0].name",
    ),
]


def pods(spec: Object) -> list[tuple[Object, str]]:
    """The pod by itself and in what makes pods, with the path of its spec."""
    template = {"spec": {"containers": [CONTAINER], **spec}}
    ending = {"spec": {**template["spec"], "restartPolicy": "Never"}}
    return [
        (bare(**spec), "spec"),
        (served("Deployment", template=template), "spec.template.spec"),
        (job(template=ending), "spec.template.spec"),
    ]


@pytest.mark.parametrize(("right", "wrong", "path"), PAIRS, ids=[f"{n}-{path}" for n, (_, _, path) in enumerate(PAIRS)])
def test_a_field_is_refused_where_a_real_server_refuses_it(
    servers: Servers, right: Object, wrong: Object, path: str
) -> None:
    check(servers.server(more=("--allow-privileged=true",)), right, wrong, path)


def check(server: ApiServer, right: Object, wrong: Object, path: str) -> None:
    """The server takes pods and what makes them with the one, refuses them with the other, and so do we."""
    for manifest, _ in pods(right):
        assert (refusal(server, manifest), told(manifest)) == ("", [])
    for manifest, place in pods(wrong):
        assert refusal(server, manifest).startswith("422 ")
        assert any(one.startswith(f"{place}.{path}") for one in told(manifest)), told(manifest)
