"""What a user with only the read role may do: list what advice needs, and nothing else."""

from collections.abc import Collection

from tests.servers.objects import Object

READS = {
    "": (
        "nodes",
        "pods",
        "namespaces",
        "resourcequotas",
        "limitranges",
        "persistentvolumeclaims",
        "persistentvolumes",
    ),
    "scheduling.k8s.io": ("priorityclasses",),
    "node.k8s.io": ("runtimeclasses",),
    "storage.k8s.io": ("storageclasses",),
    "resource.k8s.io": ("deviceclasses", "resourceslices", "resourceclaims", "resourceclaimtemplates"),
    "kueue.x-k8s.io": ("localqueues", "clusterqueues"),
    "autoscaling": ("horizontalpodautoscalers",),
    "extensions.agents.x-k8s.io": ("sandboxtemplates",),
    "run.ai": ("kartas",),
    "optimization.nvidia.com": ("resourceinterfaces",),
    "trainer.kubeflow.org": ("clustertrainingruntimes", "trainingruntimes"),
}
API = "rbac.authorization.k8s.io"


def read_role(name: str, without: Collection[str] = ()) -> Object:
    unknown = set(without) - {plural for plurals in READS.values() for plural in plurals}
    assert not unknown, f"the read role has no {unknown}"
    rules = [
        {"apiGroups": [group], "resources": [p for p in plurals if p not in without], "verbs": ["get", "list"]}
        for group, plurals in READS.items()
    ]
    kept = [rule for rule in rules if rule["resources"]]
    return {"apiVersion": f"{API}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": kept}


def binding(role: str, user: str) -> Object:
    return {
        "apiVersion": f"{API}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": role},
        "roleRef": {"apiGroup": API, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": API, "kind": "User", "name": user}],
    }


def review(user: str, group: str, plural: str) -> Object:
    """A question to the server: may this user list this?"""
    attributes = {"group": group, "resource": plural, "verb": "list"}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {},
        "spec": {"user": user, "resourceAttributes": attributes},
    }
