"""VolumeRestrictions, VolumeBinding and VolumeZone (capacity.md 4.6)."""

import pytest

from advisor.cluster import ClusterSnapshot, VolumeClaim
from advisor.diagnosis import Diagnosis
from advisor.fit import examine, volumes
from tests.builders import claim, cluster, gpus, node, on_nodes, role, shape, term, workload
from tests.fit.asking import told

ZONE, BETA = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
NODES = [
    node("a", labels={ZONE: "a"}),
    node("b", labels={ZONE: "b"}),
    node("old", labels={BETA: "a"}),
    node("plain"),
    node("region", labels={"topology.kubernetes.io/region": "r"}),
]
MOUNTING = shape(fields={"volume_claims": ("data",)})


def here(*claims: VolumeClaim, gaps: tuple[str, ...] = ()) -> ClusterSnapshot:
    return cluster(NODES, volume_claims=list(claims), gaps=gaps)


@pytest.mark.parametrize(
    ("found", "stopped"),
    [
        (claim("data"), {}),
        (claim("data", reach=on_nodes(term(f"{ZONE}=a"))), {"pvc-zone! data": ["b", "old", "plain", "region"]}),
        (claim("data", reach=on_nodes(term(f"{ZONE} in (a, b)"))), {"pvc-zone! data": ["old", "plain", "region"]}),
        (claim("data", zones={ZONE: ["a"]}), {f"pvc-zone! data ({ZONE})": ["b", "old", "region"]}),
        (claim("data", zones={ZONE: ["a", "b"]}), {f"pvc-zone! data ({ZONE})": ["old", "region"]}),
        (claim("data", zones={BETA: ["a"]}), {f"pvc-zone! data ({BETA})": ["b", "region"]}),
        (claim("data", phase="Pending", reach=on_nodes(term("gone"))), {}),
        (claim("other", reach=on_nodes(term("gone"))), {}),
        (claim("data", namespace="red", reach=on_nodes(term("gone"))), {}),
    ],
)
def test_4_6_where_a_bound_volume_can_be_used(found: VolumeClaim, stopped: dict[str, list[str]]) -> None:
    assert told(volumes.examine, MOUNTING, here(found)) == stopped


def test_4_6_every_claim_must_be_within_reach() -> None:
    there = here(claim("data", reach=on_nodes(term(f"{ZONE}=a"))), claim("more", reach=on_nodes(term(f"{ZONE}=b"))))
    both = shape(fields={"volume_claims": ("data", "more")})
    assert set().union(*told(volumes.examine, both, there).values()) == {"a", "b", "old", "plain", "region"}


def diagnosed(there: ClusterSnapshot, *replicas: int) -> Diagnosis:
    roles = [role(f"r{n}", count, volume_claims=["data"]) for n, count in enumerate(replicas)]
    return examine(workload(*roles), there, gpus())


@pytest.mark.parametrize(
    ("found", "replicas", "refusal"),
    [
        ([], [1], ("pvc-missing", "data", None)),
        ([], [0], None),  # nobody mounts it
        ([claim("data", namespace="red")], [1], ("pvc-missing", "data", None)),
        ([claim("data", deleting=True)], [1], ("pvc-missing", "data (being deleted)", None)),
        ([claim("data", phase="Lost")], [1], ("pvc-missing", "data (lost)", None)),
        ([claim("data", modes=["ReadWriteOncePod"])], [2], ("pvc-in-use", "data", 2)),
        ([claim("data", modes=["ReadWriteOncePod"])], [1, 1], ("pvc-in-use", "data", 2)),
        ([claim("data", modes=["ReadWriteOncePod"])], [1], None),
        ([claim("data")], [5], None),
    ],
)
def test_4_6_claims_with_which_no_pod_starts(
    found: list[VolumeClaim], replicas: list[int], refusal: tuple[str, str, int | None] | None
) -> None:
    refusals = diagnosed(here(*found), *replicas).refusals
    assert [(reason.code, reason.subject, reason.needs) for reason in refusals] == ([refusal] if refusal else [])
    assert all(reason.has == 1 for reason in refusals if reason.code == "pvc-in-use")


@pytest.mark.parametrize(
    ("found", "replicas", "doubtful"),
    [
        (claim("data"), 4, ""),
        (claim("data", phase="Pending"), 1, "is not bound yet"),
        (claim("data", modes=["ReadWriteOncePod"]), 1, "who has it?"),
        (claim("data", modes=["ReadWriteOnce"]), 1, ""),
        (claim("data", modes=["ReadWriteOnce"]), 2, "serves one node, 2 pods use it"),
        (claim("data", modes=["ReadWriteOnce", "ReadWriteMany"]), 2, ""),
        (claim("data", modes=[]), 2, ""),
        (claim("data", deleting=True), 1, ""),
    ],
)
def test_4_6_what_is_not_evaluated_is_a_doubt(found: VolumeClaim, replicas: int, doubtful: str) -> None:
    doubts = diagnosed(here(found), replicas).doubts
    assert len(doubts) == bool(doubtful)
    assert all(doubt.restricts and doubt.reason.subject.endswith(doubtful) for doubt in doubts)


@pytest.mark.parametrize("what", ["persistentvolumeclaims", "persistentvolumes"])
def test_4_6_claims_that_could_not_be_read_are_a_doubt_for_pods_that_mount_any(what: str) -> None:
    there = here(*([claim("data")] if what == "persistentvolumes" else []), gaps=(what,))
    found = diagnosed(there, 1)
    assert (found.refusals, [doubt.reason.subject for doubt in found.doubts]) == ((), [what])
    assert diagnosed(there, 0).doubts == ()
