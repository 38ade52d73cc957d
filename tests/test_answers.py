"""Whole answers: the verdict, the reason that decides, and what is suggested, situation by situation."""

from dataclasses import replace
from typing import Any

import pytest

from advisor.advise import advise
from advisor.cluster import ClusterSnapshot, Quota
from advisor.kube.nodes import NodeFacts
from advisor.labels import HOSTNAME
from advisor.question import Limits, Policy
from advisor.verdict import ANY_ORDER, CODES, THIS_ASSIGNMENT, Report, Verdict
from advisor.workload import Unmodelled, Workload
from tests.builders import (
    GPU,
    against,
    bound,
    cluster,
    gang,
    namespace,
    node,
    nodes,
    noexecute,
    noschedule,
    on_nodes,
    port,
    question,
    quota,
    role,
    term,
    waiting,
    workload,
)


def verdict(job: Workload, here: ClusterSnapshot) -> Verdict:
    (found,) = advise(question(job, here)).answers[0].verdicts
    return found


def texts(found: Verdict) -> list[str]:
    return [change.text for change in found.changes]


def gang_of(pods: int, **asked: Any) -> Workload:
    return workload(role("worker", pods, **asked), groups=[gang(worker=pods)])


def gpu_quota(hard: int, used: int = 0) -> Quota:
    key = f"requests.{GPU}"
    return quota("team", hard={key: hard}, used={key: used})


@pytest.mark.parametrize(
    ("job", "here", "expected", "why", "changes"),
    [
        pytest.param(
            gang_of(2, gpu=8),
            cluster(nodes(2, gpu=8)),
            "fits",
            "on 2 nodes, in any order",
            [],
            id="room for all",
        ),
        pytest.param(
            gang_of(3, gpu=8),
            cluster(nodes(3, gpu=8), [bound(on="n1", gpu=8)]),
            "full",
            "16 nvidia.com/gpu free on 3 usable nodes, 24 needed in all",
            ["free 8 nvidia.com/gpu on n1", "1 more node like n0 (8 nvidia.com/gpu)"],
            id="short in total",
        ),
        pytest.param(
            gang_of(2, gpu=4),
            cluster(nodes(4, gpu=4), [bound(on=f"n{n}", gpu=2) for n in range(4)]),
            "full",
            "8 nvidia.com/gpu free in all, but no node has the 4 that one worker pod needs",
            ["free 2 nvidia.com/gpu on each of n0, n1", "2 more nodes like n0 (4 nvidia.com/gpu)"],
            id="fragmented",
        ),
        pytest.param(
            gang_of(2, gpu=4),
            cluster(nodes(3, gpu=8), [bound(on="n0", gpu=5), bound(on="n1", gpu=4), bound(on="n2", gpu=7)]),
            "full",
            "8 nvidia.com/gpu free in all, but only 1 node has the 4 that one worker pod needs",
            ["free 1 nvidia.com/gpu on n0", "1 more node like n0 (8 nvidia.com/gpu)"],
            id="fragmented, one node is large enough",
        ),
        pytest.param(
            gang_of(1, gpu=16),
            cluster(nodes(2, gpu=8)),
            "never",
            "no usable node is large enough: one worker pod needs 16 nvidia.com/gpu, the largest has 8",
            [],
            id="no node is large enough",
        ),
        pytest.param(
            gang_of(1, gpu=1),
            cluster(nodes(2)),
            "never",
            "no node offers nvidia.com/gpu",
            [],
            id="no such resource",
        ),
        pytest.param(
            gang_of(1, cpu=65),
            cluster(nodes(2)),
            "never",
            "no usable node is large enough: one worker pod needs 65 cpu, the largest has 64",
            [],
            id="no node has the cpu",
        ),
        pytest.param(
            gang_of(1, gpu=8),
            cluster([node("a", gpu=8, unschedulable=True)]),
            "full",
            "1 node cordoned",
            ["uncordon a"],
            id="cordoned",
        ),
        pytest.param(
            gang_of(1, gpu=8),
            cluster([node("a", gpu=8, ready=False)]),
            "full",
            "1 node not ready",
            ["a Ready again"],
            id="not ready",
        ),
        pytest.param(
            gang_of(2, gpu=8),
            cluster(nodes(2, gpu=8, taints=[noschedule("pool", "prod")])),
            "never",
            "2 nodes with the taint pool=prod:NoSchedule, which the pods do not tolerate",
            ["tolerate pool=prod:NoSchedule (2 nodes)"],
            id="taint",
        ),
        pytest.param(
            gang_of(1, gpu=8, nodes=on_nodes(pairs={"gpu": "h200"})),
            cluster(nodes(2, gpu=8, labels={"gpu": "h100"})),
            "never",
            "no node matches gpu=h200",
            ["drop the selector gpu=h200"],
            id="selector",
        ),
        pytest.param(
            gang_of(3, ports=[port(8080)]),
            cluster(nodes(2)),
            "never",
            "pods with a host port need a node each",
            ["1 more node like n0", "do without host ports"],
            id="a node each for a host port",
        ),
        pytest.param(
            gang_of(3, labels={"app": "x"}, anti_affinity=[against("app=x")]),
            cluster(nodes(2)),
            "never",
            "required anti-affinity keeps the pods apart (kubernetes.io/hostname)",
            ["1 more node like n0", "drop the required anti-affinity"],
            id="a node each by anti-affinity",
        ),
        pytest.param(
            gang_of(2, gpu=8),
            cluster(
                nodes(2, gpu=8),
                quotas=[quota("team", hard={"requests.nvidia.com/gpu": 16}, used={"requests.nvidia.com/gpu": 4})],
            ),
            "full",
            "ResourceQuota team has 12 requests.nvidia.com/gpu left, 16 needed",
            ["ResourceQuota team with 16 requests.nvidia.com/gpu left"],
            id="quota in use",
        ),
        pytest.param(
            gang_of(2, gpu=8),
            cluster(nodes(2, gpu=8), quotas=[gpu_quota(8)]),
            "never",
            "ResourceQuota team allows 8 requests.nvidia.com/gpu, 16 needed",
            ["ResourceQuota team with 16 requests.nvidia.com/gpu left"],
            id="quota below the gang",
        ),
        pytest.param(
            gang_of(1, gpu=8),
            cluster(nodes(1, gpu=8), namespaces=[]),
            "never",
            "namespace team does not exist",
            ["create namespace team"],
            id="no namespace",
        ),
        pytest.param(
            gang_of(1, gpu=8),
            cluster(nodes(1, gpu=8), api_versions=frozenset({"apps/v1"})),
            "never",
            "Job (batch/v1) is not served there",
            ["install what serves Job (batch/v1)"],
            id="kind not served",
        ),
        pytest.param(
            replace(gang_of(1, gpu=8), requires=("jobset.x-k8s.io",)),
            cluster(nodes(1, gpu=8), api_versions=frozenset({"batch/v1"})),
            "never",
            "jobset.x-k8s.io, which Job needs, is not served there",
            ["install what serves jobset.x-k8s.io, which Job needs"],
            id="controller's own needs not served",
        ),
        pytest.param(
            gang_of(2, gpu=8),
            cluster(nodes(1, gpu=8), api_versions=frozenset({"apps/v1"})),
            "never",
            "Job (batch/v1) is not served there",
            [],
            id="kind not served and too few nodes",
        ),
        pytest.param(gang_of(1), cluster(), "never", "the cluster has no nodes", [], id="no nodes"),
        pytest.param(
            workload(role("worker", 4, minimum=2, gpu=8), groups=[gang(worker=2)]),
            cluster(nodes(3, gpu=8)),
            "fits-reduced",
            "3 worker pods fit; 24 nvidia.com/gpu free on 3 usable nodes, 32 needed in all",
            [],
            id="smaller",
        ),
        pytest.param(
            workload(role("worker", 0, gpu=8)), cluster(nodes(1)), "fits", "asks for no pods", [], id="no pods"
        ),
    ],
)
def test_what_is_said(job: Workload, here: ClusterSnapshot, expected: str, why: str, changes: list[str]) -> None:
    found = verdict(job, here)
    assert (found.verdict, found.why) == (expected, why)
    assert texts(found)[: len(changes)] == changes
    assert bool(found.changes) == bool(changes)


@pytest.mark.parametrize("pods", [10**7, 10**9])
def test_numbers_beyond_any_cluster_are_answered_without_suggesting_a_million_nodes(pods: int) -> None:
    found = verdict(workload(role("worker", pods, gpu=1)), cluster(nodes(1, gpu=8)))
    assert (found.verdict, found.largest, found.changes) == ("never", {"worker": 8}, ())


@pytest.mark.parametrize(("pods", "more"), [(2_001, ["2000 more nodes like n0 (1 nvidia.com/gpu)"]), (2_002, [])])
def test_more_nodes_are_suggested_up_to_a_number_that_somebody_might_add(pods: int, more: list[str]) -> None:
    assert texts(verdict(workload(role("worker", pods, gpu=1)), cluster(nodes(1, gpu=1)))) == more


@pytest.mark.parametrize("seconds", [0.0, 10.0])
def test_a_best_case_that_was_not_worked_out_is_no_sure_no(seconds: float) -> None:
    """Without the tainted node a sum says no; with it there is a packing, which takes a search to find."""
    rows = [node(f"n{n}", gpu=8, cpu=cpu) for n, cpu in enumerate((15, 17, 21))]
    rows.append(node("n3", gpu=8, cpu=15, taints=[noschedule("held")]))
    roles = [role("a", 3, cpu=8, gpu=1), role("b", 2, cpu=8, gpu=3), role("c", 4, cpu=6, gpu=3)]
    sign = Unmodelled("spec.x", "a request that no rule evaluates", restricts=False)
    job = replace(workload(*roles), unmodelled=(sign,))
    asked = question(job, cluster(rows), limits=Limits(deterministic_seconds=seconds))
    (found,) = advise(asked).answers[0].verdicts
    assert (found.verdict, "unsupported" in {doubt.code for doubt in found.doubts}) == ("unknown", True)


def test_a_change_that_is_suggested_is_a_yes_when_it_is_made() -> None:
    """Freed as told, added as told: what was `full` fits, and with one node or device less it does not."""
    rows = nodes(4, gpu=8)
    taken = [bound(on=f"n{n}", gpu=5 + n % 2) for n in range(4)]
    job = gang_of(2, gpu=4)
    found = verdict(job, cluster(rows, taken))
    freed, added = found.changes
    assert (freed.kind, added.kind) == ("free", "add-nodes")
    less = [bound(on=pods.on, gpu=pods.requests[GPU] - freed.nodes.get(pods.on, {}).get(GPU, 0)) for pods in taken]
    assert verdict(job, cluster(rows, less)).verdict == "fits"
    more = nodes(added.count, "m", gpu=8)
    assert verdict(job, cluster([*rows, *more], taken)).verdict == "fits"
    assert verdict(job, cluster([*rows, *more[1:]], taken)).verdict == "full"


def test_yes_in_any_order_or_only_with_an_assignment() -> None:
    job = workload(role("small", 2, gpu=2), role("large", 1, gpu=4))
    tight, wide = cluster(nodes(2, gpu=4)), cluster(nodes(3, gpu=4))
    found = [verdict(job, here).placement for here in (tight, wide)]
    assert [placement and placement.assurance for placement in found] == [THIS_ASSIGNMENT, ANY_ORDER]


@pytest.mark.parametrize("what", ["nodes", "pods", "cluster"])
def test_what_could_not_be_read_is_never_a_no(what: str) -> None:
    found = verdict(gang_of(1, gpu=8), cluster(gaps=[what]))
    assert (found.verdict, found.free, found.largest) == ("unknown", None, None)
    assert found.why == f"{what}: forbidden"


def test_a_quota_that_could_not_be_read_spoils_a_yes_and_no_sure_no() -> None:
    rows = nodes(1, gpu=8)
    assert verdict(gang_of(1, gpu=8), cluster(rows, gaps=["resourcequotas"])).verdict == "unknown"
    assert verdict(gang_of(2, gpu=8), cluster(rows, gaps=["resourcequotas"])).verdict == "never"


def asked_but_not_evaluated(*, restricts: bool) -> Workload:
    job = gang_of(2, gpu=8)
    return replace(job, unmodelled=(Unmodelled("spec.x", "a request that no rule evaluates", restricts=restricts),))


def test_a_request_that_is_not_evaluated_spoils_a_yes_and_suggestions() -> None:
    here = cluster(nodes(2, gpu=8))
    found = verdict(asked_but_not_evaluated(restricts=True), here)
    assert (found.verdict, [doubt.code for doubt in found.doubts]) == ("unknown", ["unsupported"])
    busy = cluster(nodes(2, gpu=8), [bound(on="n0", gpu=8)])
    found = verdict(asked_but_not_evaluated(restricts=True), busy)
    assert (found.verdict, found.changes) == ("full", ())


def test_a_request_that_may_open_nodes_keeps_a_no_from_being_sure() -> None:
    tainted = cluster(nodes(2, gpu=8, taints=[noschedule("queue", "a")]))
    assert verdict(asked_but_not_evaluated(restricts=True), tainted).verdict == "never"
    assert verdict(asked_but_not_evaluated(restricts=False), tainted).verdict == "unknown"
    small = cluster(nodes(2, gpu=4))
    assert verdict(asked_but_not_evaluated(restricts=False), small).verdict == "never"


def test_doubted_nodes_are_counted_once_for_all_roles() -> None:
    job = workload(role("a", gpu=8), role("b", gpu=8))
    tainted = cluster(nodes(3, gpu=8, taints=[noschedule(GPU, "present")]))
    found = verdict(job, tainted)
    assert (found.verdict, [(doubt.code, doubt.nodes) for doubt in found.doubts]) == (
        "unknown",
        [("admission-toleration", 3)],
    )


def test_pending_pods_are_a_note_and_no_reason() -> None:
    found = verdict(gang_of(1, gpu=8), cluster(nodes(1, gpu=8), waiting=[waiting(3, gpu=8)]))
    assert found.verdict == "fits"
    assert [note.text for note in found.notes] == [
        "3 pending pods of the same or higher priority may take the room first"
    ]


# -- several clusters, several workloads ------------------------------------------------------------------------------


def chosen(report: Report) -> list[str | None]:
    return [answer.choice.cluster if answer.choice else None for answer in report.answers]


def sized(name: str, count: int, **labels: str) -> ClusterSnapshot:
    return replace(cluster(nodes(count, gpu=8), name=name), labels=tuple(sorted(labels.items())))


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Policy(), "small"),
        (Policy(strategy="spread"), "large"),
        (Policy(prefer=(("tier", "reserved"),)), "middle"),
        (Policy(strategy="spread", prefer=(("tier", "none"), ("region", "eu"))), "large"),
    ],
)
def test_choice(policy: Policy, expected: str) -> None:
    fleet = [sized("large", 9, region="eu"), sized("middle", 5, tier="reserved"), sized("small", 2, region="eu")]
    report = advise(question(gang_of(2, gpu=8), *fleet, policy=policy))
    assert chosen(report) == [expected]
    assert report.answers[0].verdicts[0].cluster == expected


def test_a_smaller_size_is_taken_only_when_that_is_allowed_and_nothing_fits_whole() -> None:
    job = workload(role("worker", 4, minimum=2, gpu=8), groups=[gang(worker=2)])
    assert chosen(advise(question(job, sized("a", 3)))) == [None]
    allowed = Policy(allow_reduced=True)
    assert chosen(advise(question(job, sized("a", 3), policy=allowed))) == ["a"]
    assert chosen(advise(question(job, sized("a", 3), sized("b", 4), policy=allowed))) == ["b"]


def test_what_one_workload_is_given_the_next_does_not_see() -> None:
    first, second, third = (replace(gang_of(2, gpu=8), name=name) for name in ("a", "b", "c"))
    report = advise(question(first, second, third, sized("x", 2), sized("y", 3)))
    assert chosen(report) == ["x", "y", None]
    assert [found.verdict for found in report.answers[2].verdicts] == ["full", "full"]


def test_clusters_are_ranked_by_how_near_they_come() -> None:
    fleet = [
        sized("none", 0),
        sized("one", 1),
        replace(sized("gap", 0), gaps=cluster(gaps=["pods"]).gaps),
        sized("two", 2),
    ]
    (answer,) = advise(question(gang_of(3, gpu=8), *fleet)).answers
    assert [found.cluster for found in answer.verdicts] == ["gap", "two", "one", "none"]


def test_the_order_of_clusters_does_not_matter() -> None:
    fleet = [sized("c", 3), sized("a", 3), sized("b", 3)]
    reports = [advise(question(gang_of(2, gpu=8), *order)) for order in (fleet, fleet[::-1])]
    assert chosen(reports[0]) == chosen(reports[1]) == ["a"]
    assert [v.cluster for v in reports[0].answers[0].verdicts] == [v.cluster for v in reports[1].answers[0].verdicts]


def test_every_code_that_is_said_is_documented() -> None:
    here = cluster(nodes(3, gpu=8, taints=[noschedule("a")]), [bound(on="n0", gpu=8)])
    said = {reason.code for reason in verdict(gang_of(3, gpu=8), here).reasons}
    known = {code for code in CODES if "<" not in code}
    assert {code for code in said if not code.startswith("insufficient-")} <= known


def test_a_resource_that_another_system_counts_is_no_never() -> None:
    """Parts of GPUs (HAMi) are in no node's amounts; what no node offers of them says nothing."""
    sign = Unmodelled("template.spec.resources", "a part of a GPU", restricts=False, resource="nvidia.com/gpumem")
    job = replace(gang_of(2, cpu=1, also={"nvidia.com/gpumem": 8000}), unmodelled=(sign,))
    assert verdict(job, cluster(nodes(2))).verdict == "unknown"
    assert verdict(replace(job, unmodelled=()), cluster(nodes(2))).verdict == "never"
    assert verdict(job, cluster(nodes(2, cpu="500m"))).verdict == "never"


def test_devices_that_a_driver_may_serve_are_there_also_when_the_nodes_are_emptied() -> None:
    """DRA says nothing of the cpu: too busy now is `full`, not `never`, and no device is suggested to be freed."""
    busy = cluster(nodes(1), [bound(on="n0", cpu=60)], served_by_dra=frozenset({GPU}))
    found = verdict(gang_of(1, gpu=8, cpu=32), busy)
    assert found.verdict == "full"
    assert not any(GPU in change.detail for change in found.changes)


def test_a_namespace_that_is_being_deleted_takes_no_pods() -> None:
    here = cluster(nodes(1, gpu=8), namespaces=[replace(namespace(), terminating=True)])
    found = verdict(gang_of(1, gpu=8), here)
    assert (found.verdict, found.why, found.changes) == ("never", "namespace team is being deleted", ())


def test_annotations_of_the_namespace_that_an_admission_plugin_may_read_are_a_doubt() -> None:
    spaces = [replace(namespace(), node_selector="pool=a"), replace(namespace(), tolerations="[]")]
    found = [verdict(gang_of(1, gpu=8), cluster(nodes(1, gpu=8), namespaces=[space])) for space in spaces]
    assert [one.verdict for one in found] == ["unknown", "unknown"]


def test_a_quota_without_limits_is_no_doubt() -> None:
    empty = quota("empty", hard={}, uncounted=True)
    other = quota("other", hard={"count/secrets": 5}, uncounted=True)
    assert verdict(gang_of(1, gpu=8), cluster(nodes(1, gpu=8), quotas=[empty, other])).verdict == "fits"


ZONE = "topology.kubernetes.io/zone"


def zoned(*zones: str, **facts: Any) -> list[NodeFacts]:
    return [node(f"n{number}", labels={ZONE: zone}, **facts) for number, zone in enumerate(zones)]


def apart_by_zone(pods: int) -> Workload:
    return gang_of(pods, cpu=1, labels={"app": "x"}, anti_affinity=[against("app=x", key=ZONE)])


class TestNewNodesAreLikeTheOldOnes:
    """A new node has the labels of the one that it is like, and a name of its own: only then it is suggested."""

    def test_a_new_node_is_in_a_zone_that_is_there(self) -> None:
        found = verdict(apart_by_zone(4), cluster(zoned("a", "b", "c")))
        assert (found.verdict, [change.kind for change in found.changes]) == ("never", ["drop-anti-affinity"])

    def test_a_pod_that_keeps_its_zone_for_itself_keeps_the_new_node_too(self) -> None:
        shy = bound("shy", on="n0", anti_affinity=[against("app=x", key=ZONE)])
        job = gang_of(1, cpu=1, labels={"app": "x"})
        found = verdict(job, cluster(zoned("a", "a"), [shy]))
        assert (found.verdict, found.changes) == ("full", ()), "and the term is not the user's to drop"

    @pytest.mark.parametrize(
        "asked",
        [
            {"nodes": on_nodes(pairs={HOSTNAME: "n0"})},
            {"nodes": on_nodes(term(fields=["metadata.name=n0"]))},
            {"fields": {"node_name": "n0"}},
        ],
    )
    def test_a_new_node_is_not_the_one_that_is_named(self, asked: dict[str, Any]) -> None:
        found = verdict(gang_of(2, gpu=8, **asked), cluster(nodes(2, gpu=8)))
        assert "add-nodes" not in [change.kind for change in found.changes]

    def test_where_it_helps_it_is_still_suggested(self) -> None:
        found = verdict(gang_of(3, gpu=8), cluster(nodes(2, gpu=8)))
        assert texts(found)[:1] == ["1 more node like n0 (8 nvidia.com/gpu)"]


def test_what_is_overdrawn_has_to_be_freed_first() -> None:
    """Eight pods of one GPU hold a node that offers six since two failed."""
    here = cluster([node("n1", gpu=6)], [bound(on="n1", count=8, gpu=1)])
    found = verdict(gang_of(1, gpu=1), here)
    assert texts(found)[0] == "free 3 nvidia.com/gpu on n1"
    freed = cluster([node("n1", gpu=6)], [bound(on="n1", count=5, gpu=1)])
    assert verdict(gang_of(1, gpu=1), freed).verdict == "fits"


@pytest.mark.parametrize("effect", [noschedule, noexecute])
def test_a_node_that_is_not_ready_is_called_that_whoever_says_so(effect: Any) -> None:
    """Real ones bear the taint of the node lifecycle too."""
    sick = node("n1", gpu=8, ready=False, taints=[effect("node.kubernetes.io/not-ready")])
    found = verdict(gang_of(1, gpu=8), cluster([sick, node("n2", gpu=8)], [bound(on="n2", gpu=8)]))
    assert texts(found)[0] == "n1 Ready again"
    recovering = cluster([replace(sick, state=replace(sick.state, ready=True))])
    assert verdict(gang_of(1, gpu=8), recovering).why == "1 node not ready"


def test_nodes_that_kube_scheduler_avoids_as_we_do_leave_the_order_free() -> None:
    sick = node("n1", gpu=8, ready=False, taints=[noschedule("node.kubernetes.io/not-ready")])
    found = verdict(gang_of(1, gpu=8), cluster([sick, node("n2", gpu=8)]))
    assert found.placement and found.placement.assurance == ANY_ORDER


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("n9", "the template names node n9, which is not there"),
        ("n0", "8 nvidia.com/gpu free on 1 usable node, 16 needed in all"),
    ],
)
def test_a_node_that_the_template_names(name: str, why: str) -> None:
    assert verdict(gang_of(2, gpu=8, fields={"node_name": name}), cluster(nodes(2, gpu=8))).why == why


def test_an_amount_that_is_cut_off_is_told_as_such() -> None:
    assert verdict(gang_of(1, memory="16Ei"), cluster(nodes(1))).why == (
        "no usable node is large enough: one worker pod needs 1Ei or more memory, the largest has 512Gi"
    )


@pytest.mark.parametrize("gpu", [4, 8, 16])
def test_a_hasty_answer_says_the_same_with_less(gpu: int) -> None:
    asked = question(workload(role("worker", 3, gpu=gpu)), cluster(nodes=nodes(2, gpu=8)))
    whole, hasty = (advise(replace(asked, thorough=thorough)).answers[0].verdicts[0] for thorough in (True, False))
    assert (hasty.verdict, hasty.reasons, hasty.largest, hasty.why) == (
        whole.verdict,
        whole.reasons,
        whole.largest,
        whole.why,
    )
    assert hasty.changes == ()


@pytest.mark.parametrize(("hard", "used", "expected"), [(1, 0, "fits"), (1, 1, "full"), (0, 0, "never")])
def test_a_quota_that_counts_only_the_object(hard: int, used: int, expected: str) -> None:
    key = "count/jobs.batch"
    found = verdict(gang_of(2, gpu=8), cluster(nodes(2, gpu=8), quotas=[quota(hard={key: hard}, used={key: used})]))
    assert found.verdict == expected
    if expected != "fits":
        assert (found.reasons[0].code, found.largest) == ("resource-quota", {"worker": 0})
        assert [change.kind for change in found.changes] == ["raise-quota"]


def test_what_waiting_does_not_mend_is_named_first() -> None:
    limits = quota(hard={"count/jobs.batch": 2, "pods": 0}, used={"count/jobs.batch": 2, "pods": 0})
    found = verdict(gang_of(1, gpu=8), cluster(nodes(2, gpu=8), quotas=[limits]))
    assert (found.verdict, found.reasons[0].resource) == ("never", "pods")


def test_a_quota_that_is_overdrawn_forbids_only_what_is_charged_to_it() -> None:
    """The API server goes on creating pods that ask for nothing of it."""
    key = f"requests.{GPU}"
    here = cluster(nodes(2, gpu=8), quotas=[quota(hard={key: 1}, used={key: 2})])
    ray = workload(role("head", cpu=4), role("group", 2, gpu=1, minimum=0))
    found = verdict(ray, here)
    assert (found.verdict, found.placement and found.placement.size) == ("fits-reduced", {"head": 1, "group": 0})
    lead = workload(role("lead", 3, cpu=1), role("work", 2, gpu=1))
    assert verdict(lead, here).largest == {"lead": 3, "work": 0}


@pytest.mark.parametrize("own", [[against("app=x")], [against("q=q")], []])
def test_terms_of_pods_that_are_there_cannot_be_dropped(own: list[Any]) -> None:
    """That of the pod there keeps the gang away all the same."""
    there = bound("old", on="n0", labels={"app": "x"}, anti_affinity=[against("app=x")])
    job = gang_of(2, gpu=1, labels={"app": "x"}, anti_affinity=own)
    found = verdict(job, cluster(nodes(2, gpu=1), [there]))
    assert (found.verdict, [change.kind for change in found.changes]) == ("full", ["add-nodes"])


def test_an_own_term_against_a_pod_that_is_there_can_be_dropped() -> None:
    there = bound("old", on="n0", labels={"app": "old"})
    job = gang_of(2, gpu=1, anti_affinity=[against("app=old")])
    found = verdict(job, cluster(nodes(2, gpu=1), [there]))
    assert "drop the required anti-affinity" in texts(found)
