"""One workload on one cluster, and every question that is asked about the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from advisor import explain, fit, model
from advisor.assume import assume
from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import AS_READ, Diagnosis, PodShape, World
from advisor.explain.choice import Footprint
from advisor.problem import Outcome, Problem
from advisor.question import Question
from advisor.surgery import with_copies
from advisor.verdict import ANY_ORDER, THIS_ASSIGNMENT, Placement, Verdict
from advisor.workload import Stages, Workload

BLINDLY_USED = frozenset(
    {"shared-gpu", "gpu-sharing-limit", "gpu-reconfiguring", "hami-split", "admission-toleration"}
    | {"virtual-node", "node-going-away", "not-ready=", "wrong-system"}
)
"""Rules of ours that kube-scheduler does not have: it may use such nodes, whatever we advise. A node that is not ready
by its taint (`not-ready=TAINT`) it does not use either."""

TRYING = 1.0
"""Deterministic seconds for one trial of what would change an answer."""


def accelerator(workload: Workload, question: Question) -> str:
    """The accelerator that the workload is about; limits count, because they become requests."""
    templates = [role.template for role in workload.roles if role.replicas]
    return question.accelerators.main({name: 1 for t in templates for name in (*t.requests(), *t.limits())})


@dataclass
class Trial:
    """One workload on one cluster: what `fit` finds, and `model` asked about it when needed, equal worlds once."""

    workload: Workload
    cluster: ClusterSnapshot
    question: Question
    outcomes: dict[bytes, Outcome] = field(default_factory=dict)
    tried: dict[bytes, bool] = field(default_factory=dict)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        assume_namespace = self.cluster.name in self.question.assume_namespaces
        return fit.examine(self.workload, self.cluster, self.question.accelerators, assume_namespace)

    @property
    def search(self) -> model.Search:
        return model.Search(self.question.limits.deterministic_seconds, self.question.limits.seed)

    @property
    def accelerator(self) -> str:
        return accelerator(self.workload, self.question)

    @cached_property
    def problem(self) -> Problem:
        return self.problem_in(AS_READ)

    def problem_in(self, world: World) -> Problem:
        known = self.question.accelerators.among(self.cluster.nodes.allocatable)
        return model.build(self.diagnosis, self.workload, self.cluster.nodes, known, world)

    def place(self, world: World = AS_READ) -> Outcome:
        """Is there room for all in that world? Searched to the end, as far as the question's limit allows."""
        problem = self.problem_in(world) if world != AS_READ else self.problem
        known = problem.fingerprint
        if known not in self.outcomes:
            self.outcomes[known] = model.place(problem, self.search)
        return self.outcomes[known]

    @cached_property
    def most(self) -> Outcome:
        """The most of its pods that fit at once."""
        return model.largest(self.problem, self.search)

    def fits(self, world: World) -> bool:
        """Surely room for all in that world, found in short time: what is suggested was tried, not all is tried."""
        problem = self.problem_in(world)
        known = problem.fingerprint
        if known not in self.outcomes and known not in self.tried:
            self.tried[known] = model.place(problem, self.search.within(TRYING)).complete
        return self.outcomes[known].complete if known in self.outcomes else self.tried[known]

    def fits_with(self, like: str, count: int) -> bool:
        """Does the gang fit with so many new nodes like one that is there, each with a name of its own?"""
        grown = Trial(self.workload, with_copies(self.cluster, like, count), self.question)
        return not grown.diagnosis.refusals and grown.fits(AS_READ)

    def case(self) -> explain.Case:
        return explain.Case(self.diagnosis, self.cluster.nodes, self.question.accelerators, self.fits, self.fits_with)

    def placement(self, outcome: Outcome, assurance: str = THIS_ASSIGNMENT) -> Placement:
        roles = [found.role.name for found in self.diagnosis.roles]
        names = self.cluster.nodes.names
        placed = outcome.placed or {}
        bins = {roles[r]: {names[b]: n for b, n in sorted(there.items())} for r, there in sorted(placed.items())}
        return Placement(bins, assurance)

    def arranged(self, assurance: str) -> Placement:
        """The least disturbing assignment."""
        return self.placement(model.arrange(self.problem, self.search), assurance)

    def assurance(self) -> str:
        """Does an ordinary scheduler find room for all in whatever order?

        Not told where it may use other nodes: those that only we avoid, those that are held for a pod which precedes
        some of the pods only, and those where pods that are promised but not bound do not arrive.
        """
        if self.cluster.assumed or fit.held_for_some(self.diagnosis, self.cluster):
            return THIS_ASSIGNMENT
        nodes = len(self.cluster.nodes)
        same = all(
            bool((found.allowed(nodes) == found.allowed(nodes, without=BLINDLY_USED)).all())
            for found in self.diagnosis.roles
        )
        return ANY_ORDER if same and model.any_order(self.problem, self.search) else THIS_ASSIGNMENT

    def sizes(self, outcome: Outcome) -> dict[str, int]:
        return {found.role.name: outcome.sizes.get(r, 0) for r, found in enumerate(self.diagnosis.roles)}

    @property
    def shapes(self) -> dict[str, PodShape]:
        """The pods by role, as this cluster would admit them."""
        return {found.role.name: found.shape for found in self.diagnosis.roles}

    @property
    def stages(self) -> dict[str, Stages]:
        return {found.role.name: found.role.stages for found in self.diagnosis.roles}

    def assumed(self, verdict: Verdict, cluster: ClusterSnapshot | None = None) -> ClusterSnapshot:
        """The cluster once this workload's pods are on it; `cluster`: another snapshot of the same one."""
        placement = verdict.placement or Placement({})
        return assume(cluster or self.cluster, placement, self.shapes, self.diagnosis.charges, self.stages)

    def footprint(self) -> Footprint:
        if not self.diagnosis.roles:
            return Footprint(0, 0, 0, 0)
        problem = self.problem
        heavy = self.diagnosis.roles.index(explain.heaviest(self.case()))
        used = {b for there in (self.place().placed or {}).values() for b in there}
        broken = sum(bool(problem.fresh[b]) for b in used)
        return Footprint(model.places(problem, heavy), problem.wanted[heavy], broken, len(used))


def stay_assured(workloads: Sequence[Workload], cluster: ClusterSnapshot, question: Question) -> bool:
    """Do all of these find room on the cluster in whatever order their pods are scheduled, one among the other?"""
    trials = [Trial(workload, cluster, question) for workload in workloads]
    together = model.together([trial.diagnosis for trial in trials], cluster.nodes) if not cluster.nominated else None
    if together is None or not model.any_order(together, trials[0].search):
        return False
    return all(trial.assurance() == ANY_ORDER for trial in trials)
