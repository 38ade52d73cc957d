"""The kinds of object that are read, a row each: where the API serves them and what they decode to."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.kube import wire


@dataclass(frozen=True, slots=True)
class Kind:
    """`version` is empty where the server is asked which one it prefers. `optional`: a server may not know the kind."""

    name: str
    plural: str
    type: type[wire.Item]
    group: str = ""
    version: str = "v1"
    namespaced: bool = False
    optional: bool = False

    def path(self, version: str = "", namespace: str = "") -> str:
        """The URL path of a list, of one namespace or of the whole cluster."""
        root = f"/apis/{self.group}" if self.group else "/api"
        scope = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}/{version or self.version}{scope}/{self.plural}"


NODE = Kind("Node", "nodes", wire.Node)
POD = Kind("Pod", "pods", wire.Pod, namespaced=True)
RESOURCE_QUOTA = Kind("ResourceQuota", "resourcequotas", wire.ResourceQuota, namespaced=True)
LIMIT_RANGE = Kind("LimitRange", "limitranges", wire.LimitRange, namespaced=True)
NAMESPACE = Kind("Namespace", "namespaces", wire.Namespace)
PRIORITY_CLASS = Kind("PriorityClass", "priorityclasses", wire.PriorityClass, "scheduling.k8s.io")
RUNTIME_CLASS = Kind("RuntimeClass", "runtimeclasses", wire.RuntimeClass, "node.k8s.io")
CLAIM = Kind("PersistentVolumeClaim", "persistentvolumeclaims", wire.PersistentVolumeClaim, namespaced=True)
VOLUME = Kind("PersistentVolume", "persistentvolumes", wire.PersistentVolume)
DEVICE_CLASS = Kind("DeviceClass", "deviceclasses", wire.DeviceClass, "resource.k8s.io", version="")
LOCAL_QUEUE = Kind("LocalQueue", "localqueues", wire.LocalQueue, "kueue.x-k8s.io", version="", namespaced=True)
DEFINITIONS = (
    Kind("Karta", "kartas", wire.Stored, "run.ai", "v1alpha1", optional=True),
    Kind("ResourceInterface", "resourceinterfaces", wire.Stored, "optimization.nvidia.com", "v1alpha1", optional=True),
)
"""Definitions of kinds of workload: under their name, and under the one that they had before."""

KINDS = (
    *(NODE, POD, RESOURCE_QUOTA, LIMIT_RANGE, NAMESPACE, PRIORITY_CLASS),
    *(RUNTIME_CLASS, CLAIM, VOLUME, DEVICE_CLASS, LOCAL_QUEUE, *DEFINITIONS),
)


def known(group: str, name: str) -> Kind | None:
    """The kind of that group and name, whatever its version: other groups have a `Node` of their own."""
    return next((kind for kind in KINDS if (kind.group, kind.name) == (group, name)), None)
