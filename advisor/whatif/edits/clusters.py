"""Edits of a whole cluster: lost, with other quotas, without the pods of a namespace."""

from __future__ import annotations

from dataclasses import dataclass, replace

from advisor import surgery
from advisor.cluster import ClusterSnapshot, Quota
from advisor.errors import InputError, likely
from advisor.quantity import Amounts
from advisor.question import Question
from advisor.whatif.edits.target import changed, cluster_of


@dataclass(frozen=True, slots=True)
class LoseCluster:
    """A cluster that cannot be used at all, whatever names it has."""

    cluster: str

    def __call__(self, question: Question) -> Question:
        lost = cluster_of(question, self.cluster)
        left = tuple(one for one in question.clusters if not one.is_the_same_as(lost))
        if not left:
            raise InputError(f"{self.cluster} is the only cluster: without it there is nothing to ask")
        return replace(question, clusters=left)

    def __str__(self) -> str:
        return f"lose {self.cluster}"


@dataclass(frozen=True, slots=True)
class SetQuota:
    """Another limit in a ResourceQuota that has one. `name` may be left out where only one quota limits the keys."""

    cluster: str
    namespace: str
    hard: Amounts
    name: str = ""

    def __call__(self, question: Question) -> Question:
        return changed(question, self.cluster, self._limited, "resourcequotas")

    def _limited(self, cluster: ClusterSnapshot) -> ClusterSnapshot:
        chosen = self._chosen(cluster)
        changed = replace(chosen, hard={**chosen.hard, **self.hard})
        return replace(cluster, quotas=tuple(changed if quota is chosen else quota for quota in cluster.quotas))

    def _chosen(self, cluster: ClusterSnapshot) -> Quota:
        there = [quota for quota in cluster.quotas if quota.namespace == self.namespace]
        named = [quota for quota in there if self.name in ("", quota.name)]
        found = [quota for quota in named if self.hard.keys() <= quota.hard.keys()]
        if len(found) == 1:
            return found[0]
        limits = "; ".join(f"{quota.name} limits {', '.join(quota.hard)}" for quota in named or there)
        problem = (
            "several ResourceQuotas limit" if found else f"no ResourceQuota {self.name or ''}".rstrip() + " limits"
        )
        hint = f"name one of them: {', '.join(q.name for q in found)}" if found else limits
        raise InputError(
            f"{problem} {', '.join(self.hard)} in namespace {self.namespace} of {self.cluster}",
            hint=hint or "it has no ResourceQuota",
        )

    def __str__(self) -> str:
        return f"set the quota of {self.namespace} on {self.cluster}: {', '.join(self.hard)}"


@dataclass(frozen=True, slots=True)
class RemovePods:
    """All pods of a namespace gone, with what they held of quotas."""

    cluster: str
    namespace: str

    def __call__(self, question: Question) -> Question:
        return changed(question, self.cluster, self._freed)

    def _freed(self, cluster: ClusterSnapshot) -> ClusterSnapshot:
        held = (cluster.pods, cluster.waiting, cluster.nominated)
        there = {pods.namespace for group in held for pods in group}
        if self.namespace not in there:
            hint = likely(self.namespace, sorted(there)) or f"namespaces with pods are {', '.join(sorted(there))}"
            raise InputError(f'{self.cluster} has no pod in namespace "{self.namespace}"', hint=hint)
        return surgery.pods_gone(cluster, self.namespace)

    def __str__(self) -> str:
        return f"remove all pods in namespace {self.namespace} of {self.cluster}"
