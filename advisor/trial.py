"""One workload on one cluster, and every question that is asked about the two."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from advisor import explain, fit, model
from advisor.assume import assume
from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import AS_READ, Diagnosis, World
from advisor.explain.choice import Footprint
from advisor.problem import Outcome, Problem
from advisor.question import Question
from advisor.verdict import ANY_ORDER, THIS_ASSIGNMENT, Placement, Verdict
from advisor.workload import Workload

BLINDLY_USED = frozenset(
    {"shared-gpu", "gpu-sharing-limit", "gpu-reconfiguring", "hami-split", "admission-toleration"}
    | {"virtual-node", "node-going-away", "not-ready", "wrong-system"}
)
"""Rules of ours that kube-scheduler does not have: it may use such nodes, whatever we advise."""

TRYING = 1.0
"""Deterministic seconds for one trial of what would change an answer."""


def accelerator(workload: Workload, question: Question) -> str:
    """The accelerator that the workload is about; limits count, because they become requests."""
    templates = [role.template for role in workload.roles if role.replicas]
    return question.accelerators.main({name: 1 for t in templates for name in (*t.requests(), *t.limits())})


@dataclass
class Trial:
    """One workload on one cluster: what `fit` found, and `model` asked about it, worlds that come to the same once."""

    workload: Workload
    cluster: ClusterSnapshot
    question: Question
    diagnosis: Diagnosis
    outcomes: dict[bytes, Outcome] = field(default_factory=dict)
    tried: dict[bytes, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, workload: Workload, cluster: ClusterSnapshot, question: Question) -> Trial:
        assume_namespace = cluster.name in question.assume_namespaces
        return cls(workload, cluster, question, fit.examine(workload, cluster, question.accelerators, assume_namespace))

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

    def fits(self, world: World) -> bool:
        """Surely room for all in that world, found in short time: what is suggested was tried, not all is tried."""
        problem = self.problem_in(world)
        known = problem.fingerprint
        if known not in self.outcomes and known not in self.tried:
            self.tried[known] = model.place(problem, self.search.within(TRYING)).complete
        return self.outcomes[known].complete if known in self.outcomes else self.tried[known]

    def case(self) -> explain.Case:
        return explain.Case(self.diagnosis, self.cluster.nodes, self.question.accelerators, self.fits)

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
        """Does an ordinary scheduler find room for all in whatever order? Not told where it may use other nodes."""
        nodes = len(self.cluster.nodes)
        same = all(
            bool((found.allowed(nodes) == found.allowed(nodes, without=BLINDLY_USED)).all())
            for found in self.diagnosis.roles
        )
        return ANY_ORDER if same and model.any_order(self.problem, self.search) else THIS_ASSIGNMENT

    def sizes(self, outcome: Outcome) -> dict[str, int]:
        return {found.role.name: outcome.sizes.get(r, 0) for r, found in enumerate(self.diagnosis.roles)}

    def assumed(self, verdict: Verdict) -> ClusterSnapshot:
        """The cluster once this workload's pods are on it."""
        shapes = {found.role.name: found.shape for found in self.diagnosis.roles}
        placement = verdict.placement or Placement({})
        return assume(self.cluster, placement, shapes, self.diagnosis.charges)

    def footprint(self) -> Footprint:
        if not self.diagnosis.roles:
            return Footprint(0, 0, 0, 0)
        problem = self.problem
        heavy = self.diagnosis.roles.index(explain.heaviest(self.case()))
        used = {b for there in (self.place().placed or {}).values() for b in there}
        broken = sum(bool(problem.fresh[b]) for b in used)
        return Footprint(model.places(problem, heavy), problem.wanted[heavy], broken, len(used))
