"""Each edit with its smallest example, where it turns a verdict, and the way back where there is one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.advise import advise
from advisor.cluster import ClusterSnapshot, Waiting
from advisor.errors import InputError
from advisor.labels import HOSTNAME, Taint
from advisor.question import Question
from advisor.verdict import Answer
from advisor.whatif.edits import (
    AddNodes,
    Copies,
    Cordon,
    Drain,
    Edit,
    Gone,
    LabelNodes,
    LoseCluster,
    RemoveNodes,
    RemovePods,
    Replicas,
    SetQuota,
    Shape,
    TaintNodes,
    Uncordon,
    Which,
)
from advisor.workload import Workload
from tests.builders import (
    GPU,
    against,
    bound,
    cluster,
    exists,
    gang,
    node,
    nodes,
    noschedule,
    on_nodes,
    question,
    quota,
    role,
    selector,
    waiting,
    workload,
)

PAIR = workload(role("worker", 2, gpu=8), groups=[gang(worker=2)])
"""Two pods, a whole node of 8 GPUs each."""

KEY = f"requests.{GPU}"
GIB = 1 << 30


def answer(asked: Question) -> Answer:
    return advise(asked).answers[0]


def verdicts(asked: Question) -> list[str]:
    return [found.verdict for found in answer(asked).verdicts]


def of(*names: str) -> Which:
    return Which("here", names)


def with_label(*texts: str) -> Which:
    return Which("here", selector=selector(*texts))


@pytest.mark.parametrize(
    ("job", "here", "edit", "before", "after"),
    [
        pytest.param(PAIR, cluster(nodes(1, gpu=8)), AddNodes("here", 1, "n0"), "never", "fits", id="a node bought"),
        pytest.param(PAIR, cluster(nodes(1, gpu=8)), AddNodes("here", 0, "n0"), "never", "never", id="none bought"),
        pytest.param(
            PAIR,
            cluster(nodes(1, gpu=8)),
            AddNodes("here", 1, shape=Shape({"cpu": 8000, "memory": 64 * GIB, "pods": 110, GPU: 8})),
            "never",
            "fits",
            id="a shape bought",
        ),
        pytest.param(
            PAIR,
            cluster(nodes(1, gpu=8)),
            AddNodes("here", 1, shape=Shape({"pods": 110, GPU: 8}, taints=(noschedule("gpu"),))),
            "never",
            "never",
            id="a shape bought that repels",
        ),
        pytest.param(
            PAIR,
            cluster([node("n0", gpu=8, unschedulable=True)]),
            AddNodes("here", 2, "n0"),
            "never",
            "fits",
            id="a new node is open",
        ),
        pytest.param(
            PAIR,
            cluster(nodes(1, gpu=8), [bound(on="n0", gpu=8)]),
            AddNodes("here", 2, "n0"),
            "never",
            "fits",
            id="a new node is empty",
        ),
        pytest.param(
            PAIR,
            cluster(nodes(1, gpu=8), [bound(on="n0", gpu=1, standing=True)]),
            AddNodes("here", 2, "n0"),
            "never",
            "never",
            id="a new node gets its DaemonSets",
        ),
        pytest.param(PAIR, cluster(nodes(2, gpu=8)), RemoveNodes(of("n0")), "fits", "never", id="a node gone"),
        pytest.param(PAIR, cluster(nodes(2, gpu=8)), Cordon(of("n0")), "fits", "full", id="a node cordoned"),
        pytest.param(
            PAIR,
            cluster([node("n0", gpu=8, unschedulable=True), node("n1", gpu=8)]),
            Uncordon(of("n0")),
            "full",
            "fits",
            id="a node uncordoned",
        ),
        pytest.param(
            PAIR,
            cluster([node("n0", gpu=8, taints=[noschedule("node.kubernetes.io/unschedulable")]), node("n1", gpu=8)]),
            Uncordon(of("n0")),
            "full",
            "fits",
            id="uncordoned by its taint",
        ),
        pytest.param(PAIR, cluster(nodes(2, gpu=8)), Drain(of("n0")), "fits", "full", id="a node drained"),
        pytest.param(
            PAIR,
            cluster(nodes(2, gpu=8)),
            TaintNodes(of("n0"), (noschedule("maintenance"),)),
            "fits",
            "never",
            id="a taint",
        ),
        pytest.param(
            workload(role("worker", 2, gpu=8, tolerations=[exists("maintenance")])),
            cluster(nodes(2, gpu=8)),
            TaintNodes(of("n0"), (noschedule("maintenance"),)),
            "fits",
            "fits",
            id="a taint that is tolerated",
        ),
        pytest.param(
            PAIR,
            cluster([node("n0", gpu=8, taints=[noschedule("maintenance", "yes")]), node("n1", gpu=8)]),
            TaintNodes(of("n0"), remove=(Gone("maintenance"),)),
            "never",
            "fits",
            id="a taint taken away",
        ),
        pytest.param(
            workload(role("worker", 2, gpu=8, nodes=on_nodes(pairs={"pool": "big"}))),
            cluster([node("n0", gpu=8, labels={"pool": "big"}), node("n1", gpu=8)]),
            LabelNodes(of("n1"), {"pool": "big"}),
            "never",
            "fits",
            id="a label",
        ),
        pytest.param(
            workload(role("worker", 2, gpu=8, nodes=on_nodes(pairs={"pool": "big"}))),
            cluster(nodes(2, gpu=8, labels={"pool": "big"})),
            LabelNodes(of("n1"), {"pool": None}),
            "fits",
            "never",
            id="a label taken away",
        ),
        pytest.param(PAIR, cluster(nodes(2, gpu=8)), Replicas("worker", 3), "fits", "never", id="a replica more"),
        pytest.param(PAIR, cluster(nodes(1, gpu=8)), Replicas("worker", 1), "never", "fits", id="a replica less"),
        pytest.param(
            PAIR,
            cluster(nodes(2, gpu=8), quotas=[quota(hard={KEY: 8})]),
            SetQuota("here", "team", {KEY: 16}),
            "never",
            "fits",
            id="a quota raised",
        ),
        pytest.param(
            PAIR,
            cluster(nodes(2, gpu=8), quotas=[quota(hard={KEY: 16})]),
            SetQuota("here", "team", {KEY: 15}, "limit"),
            "fits",
            "never",
            id="a quota lowered",
        ),
        pytest.param(
            PAIR,
            cluster(nodes(2, gpu=8), [bound(on="n0", gpu=1, namespace="other")]),
            RemovePods("here", "other"),
            "full",
            "fits",
            id="pods gone",
        ),
        pytest.param(
            PAIR,
            cluster(nodes(2, gpu=8), [bound(on="n0", gpu=1, namespace="other", standing=True)]),
            RemovePods("here", "other"),
            "never",
            "fits",
            id="the node's own pods gone",
        ),
        pytest.param(
            PAIR,
            cluster(nodes(3, gpu=8), [bound(on="n0", gpu=8)], quotas=[quota(hard={KEY: 16}, used={KEY: 8})]),
            RemovePods("here", "team"),
            "full",
            "fits",
            id="pods gone give their quota back",
        ),
    ],
)
def test_an_edit_turns_the_verdict(job: Workload, here: ClusterSnapshot, edit: Edit, before: str, after: str) -> None:
    asked = question(job, here)
    kept = verdicts(asked)
    assert (kept, verdicts(edit(asked))) == ([before], [after])
    assert verdicts(asked) == kept, "an edit leaves the question that it was given alone"


class TestDrain:
    here = cluster(
        nodes(2, gpu=8),
        [
            bound("a", on="n0", gpu=2, count=2, priority=5),
            bound("d", on="n0", cpu=1, standing=True),
            bound("t", on="n0", gpu=1, terminating=True),
            bound("b", on="n1", gpu=1),
        ],
        waiting=[waiting(gpu=2, priority=5)],
    )

    def drained(self) -> ClusterSnapshot:
        return Drain(of("n0"))(question(PAIR, self.here)).clusters[0]

    def test_only_the_nodes_own_pods_stay(self) -> None:
        found = self.drained()
        assert {dict(pods.labels)["name"]: pods.nodes for pods in found.pods} == {"d": {"n0": 1}, "b": {"n1": 1}}
        assert found.nodes.requested[GPU].tolist() == [0, 1]
        assert found.nodes.requested["cpu"].tolist() == [1000, 0]

    def test_the_others_wait_for_a_place(self) -> None:
        assert self.drained().waiting == (Waiting(5, {GPU: 2}, 3, "team"),)

    def test_whoever_waits_is_said(self) -> None:
        asked = Drain(of("n0"))(question(workload(role("w", 1, gpu=1)), self.here))
        (found,) = answer(asked).verdicts
        assert (found.verdict, [note.code for note in found.notes]) == ("fits", ["waiting-pods"])


class TestNewNodes:
    def test_have_names_and_host_names_of_their_own(self) -> None:
        asked = question(PAIR, cluster([*nodes(1, gpu=8), node("n0-new-1", gpu=8)]))
        found = AddNodes("here", 2, "n0")(asked).clusters[0].nodes
        assert found.names == ("n0", "n0-new-1", "n0-new-2", "n0-new-3")
        assert [found.label(HOSTNAME).of(row) for row in range(4)] == list(found.names)

    def test_do_not_inherit_what_passes(self) -> None:
        taints = [noschedule("node.kubernetes.io/not-ready"), noschedule("gpu"), Taint("karpenter.sh/disrupted")]
        here = cluster([node("n0", ready=False, deleting=True, taints=taints)])
        found = AddNodes("here", 1, "n0")(question(PAIR, here)).clusters[0].nodes
        assert found.taints.of(1) == (noschedule("gpu"),)
        assert (found.states.of(1).ready, found.states.of(1).deleting) == (True, False)

    def test_keep_pods_apart_as_their_model_does(self) -> None:
        """The DaemonSet's anti-affinity comes along."""
        shy = bound("shy", on="n0", standing=True, anti_affinity=[against("app=web")])
        job = workload(role("web", 1, labels={"app": "web"}, cpu=1))
        asked = question(job, cluster(nodes(1), [shy]))
        assert verdicts(asked) == verdicts(AddNodes("here", 3, "n0")(asked)) == ["never"]


class TestWorkloads:
    def test_a_gang_stays_a_gang(self) -> None:
        job = replace(workload(role("leader", 2, cpu=1), role("worker", 4, cpu=1)), min_available=6)
        job = replace(job, groups=(replace(gang(leader=1, worker=2), count=2),))
        (found,) = Replicas("worker", 8)(question(job, cluster(nodes(1)))).workloads
        assert [(one.name, one.replicas, one.minimum) for one in found.roles] == [("leader", 2, 2), ("worker", 8, 8)]
        assert (found.groups[0].members, found.min_available) == ({"leader": 1, "worker": 4}, 10)

    def test_an_elastic_role_keeps_its_bounds(self) -> None:
        job = workload(replace(role("worker", 4, cpu=1), minimum=2, maximum=5))
        bounds = []
        for count in (1, 6):
            (found,) = Replicas("worker", count)(question(job, cluster(nodes(1)))).workloads
            bounds.append((found.roles[0].minimum, found.roles[0].maximum))
        assert bounds == [(1, 5), (2, 6)]

    def test_copies_are_asked_one_after_the_other(self) -> None:
        asked = Copies("train", 3)(question(PAIR, cluster(nodes(5, gpu=8))))
        found = advise(asked)
        assert [(one.workload.name, one.choice is not None) for one in found.answers] == [
            ("train-1", True),
            ("train-2", True),
            ("train-3", False),
        ]

    @pytest.mark.parametrize(("added", "fitting"), [((), [True, False]), (("job",), [True, True])])
    def test_labels_of_copies(self, added: tuple[str, ...], fitting: list[bool]) -> None:
        """A label that the manifest writes is alike on all copies; one that a controller makes of the name is not."""
        alone = against("job=train")
        job = workload(role("worker", 1, labels={"job": "train"}, anti_affinity=[alone], cpu=1))
        job = replace(job, roles=tuple(replace(r, template=replace(r.template, added=added)) for r in job.roles))
        asked = Copies("train", 2)(question(job, cluster(nodes(1))))
        assert [one.choice is not None for one in advise(asked).answers] == fitting

    def test_copies_stand_where_one_could(self) -> None:
        """A pod that is there already keeps copies away as it keeps the one away."""
        job = workload(role("worker", 1, labels={"app": "train"}, anti_affinity=[against("app=train")], cpu=1))
        there = bound(on="n0", labels={"app": "train"})
        for count in (1, 2):
            asked = Copies("train", count)(question(job, cluster(nodes(1), [there])))
            assert not any(one.choice for one in advise(asked).answers)


def test_a_lost_cluster_is_not_asked() -> None:
    there = replace(cluster(nodes(2, gpu=8)), name="there")
    asked = question(PAIR, cluster(nodes(2, gpu=8)), there)
    found = LoseCluster("here")(asked)
    assert [one.cluster for one in answer(found).verdicts] == ["there"]
    with pytest.raises(InputError, match="there is the only cluster"):
        LoseCluster("there")(found)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (AddNodes("her", 1, "n0"), 'there is no cluster "her"\n    did you mean here?'),
        (AddNodes("here", 1, "n00"), 'here has no node "n00"\n    did you mean n0?'),
        (Drain(with_label("rack=r7")), "here has no node with rack=r7\n    no node there has the label rack"),
        (Drain(with_label("pool=y")), "here has no node with pool=y\n    values of pool there are x"),
        (Cordon(of("n0", "gone")), 'here has no node "gone"'),
        (TaintNodes(of("n0"), remove=(Gone("gpu"),)), 'n0 of here do not have the taint "gpu"'),
        (LabelNodes(of("n0"), {"pol": None}), 'n0 of here have no label "pol"\n    did you mean pool?'),
        (LoseCluster("x"), 'there is no cluster "x"\n    clusters are here'),
        (
            SetQuota("here", "team", {"pods": 1}),
            "no ResourceQuota limits pods in namespace team of here\n    limit limits",
        ),
        (SetQuota("here", "none", {KEY: 1}), f"no ResourceQuota limits {KEY} in namespace none"),
        (RemovePods("here", "tame"), 'here has no pod in namespace "tame"\n    did you mean team?'),
        (Replicas("wroker", 1), 'no workload has a role "wroker"\n    did you mean worker?'),
        (Replicas("worker", 1, "tarin"), 'there is no workload "tarin"\n    did you mean train?'),
        (Copies("x", 2), 'there is no workload "x"\n    workloads are train'),
    ],
)
def test_what_is_named_must_be_there(edit: Edit, message: str) -> None:
    here = cluster(nodes(2, gpu=8, labels={"pool": "x"}), [bound(on="n0")], quotas=[quota(hard={KEY: 8})])
    with pytest.raises(InputError) as caught:
        edit(question(PAIR, here))
    assert message in str(caught.value)


def test_several_quotas_need_a_name() -> None:
    here = cluster(nodes(2, gpu=8), quotas=[quota("a", hard={KEY: 8}), quota("b", hard={KEY: 9})])
    with pytest.raises(InputError, match="several ResourceQuotas limit"):
        SetQuota("here", "team", {KEY: 16})(question(PAIR, here))
    found = SetQuota("here", "team", {KEY: 16}, "b")(question(PAIR, here))
    assert [one.hard[KEY] for one in found.clusters[0].quotas] == [8, 16]


@pytest.mark.parametrize(
    ("step", "groups", "count", "hint"),
    [
        (1, 2, 3, "cannot have 3 worker pods: they come in multiples of 2\n    the sizes next to it are 2 or 4"),
        (4, 1, 6, "multiples of 4\n    the sizes next to it are 4 or 8"),
        (4, 1, 3, "multiples of 4\n    the least is 4"),
        (2, 3, 8, "multiples of 6\n    the sizes next to it are 6 or 12"),
        (0, 1, 8, "train has 12 worker pods at any size of its other roles"),
    ],
)
def test_a_size_that_cannot_be_is_refused(step: int, groups: int, count: int, hint: str) -> None:
    """Whole groups, whole units of several hosts, and roles that are always as large."""
    job = replace(workload(replace(role("worker", 12, cpu=1), step=step)))
    job = replace(job, groups=(replace(gang(worker=12 // groups), count=groups),))
    asked = question(job, cluster(nodes(1)))
    with pytest.raises(InputError) as caught:
        Replicas("worker", count)(asked)
    assert hint in str(caught.value)
    assert Replicas("worker", 12)(asked).workloads[0].roles == job.roles
    if step:
        assert Replicas("worker", 24)(asked).workloads[0].groups[0].members == {"worker": 24 // groups}


def test_a_role_that_is_always_as_large_names_those_that_are_not() -> None:
    job = workload(replace(role("leader", 1, cpu=1), step=0), role("worker", 2, cpu=1))
    with pytest.raises(InputError, match="roles of other sizes are worker"):
        Replicas("leader", 2)(question(job, cluster(nodes(1))))


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        (Gone("maintenance"), []),
        (Gone("maintenance", "NoSchedule"), []),
        (Gone("maintenance", "NoSchedule", "yes"), []),
        (Gone("maintenance", "NoExecute"), None),
        (Gone("maintenance", "NoSchedule", "no"), None),
        (Gone("maintenance", "NoSchedule", ""), None),
    ],
)
def test_a_taint_of_another_value_or_effect_stays(gone: Gone, left: list[Taint] | None) -> None:
    asked = question(PAIR, cluster([node("n0", taints=[noschedule("maintenance", "yes")])]))
    if left is not None:
        (found,) = TaintNodes(of("n0"), remove=(gone,))(asked).clusters
        assert list(found.nodes.taints.of(0)) == left
    else:
        with pytest.raises(InputError, match="taints there are maintenance=yes:NoSchedule"):
            TaintNodes(of("n0"), remove=(gone,))(asked)


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        (["rack=r9"], "no node there has the label rack"),
        (["pool=x", "zone=c"], "values of zone there are a, b"),
        (["pool=x", "zone=b"], "each of these is true of some node, all of them together of none"),
        (["many=z"], "values of many there are v0, v1, v2, v3, v4 and 1 more"),
    ],
)
def test_a_selector_that_matches_nothing_names_what_there_is(wanted: list[str], hint: str) -> None:
    """A label that was taken from all nodes is there no more."""
    pools = [node("n0", labels={"pool": "x", "zone": "a", "rack": "r1"}), node("n1", labels={"pool": "y", "zone": "b"})]
    many = [node(f"m{number}", labels={"many": f"v{number}"}) for number in range(6)]
    asked = LabelNodes(of("n0"), {"rack": None})(question(PAIR, cluster([*pools, *many])))
    with pytest.raises(InputError) as caught:
        Drain(with_label(*wanted))(asked)
    assert str(caught.value).endswith(hint)


def test_a_cluster_that_could_not_be_read_cannot_be_edited() -> None:
    with pytest.raises(InputError, match="could not be read"):
        AddNodes("here", 1, "n0")(question(PAIR, cluster(nodes(1), gaps=["nodes"])))


@pytest.mark.parametrize(
    ("edit", "gap"), [(SetQuota("here", "team", {KEY: 1}), "resourcequotas"), (RemovePods("here", "team"), "pods")]
)
def test_what_could_not_be_read_is_not_said_to_be_missing(edit: Edit, gap: str) -> None:
    with pytest.raises(InputError, match=f"{gap} of here could not be read"):
        edit(question(PAIR, cluster(nodes(1), gaps=[gap])))


def test_a_label_is_taken_from_the_nodes_that_are_named() -> None:
    here = cluster([node("n0"), node("n1", labels={"rack": "r1"})])
    with pytest.raises(InputError, match='n0 of here have no label "rack"'):
        LabelNodes(of("n0"), {"rack": None})(question(PAIR, here))


def test_a_recording_without_requests_of_its_pods_says_so() -> None:
    here = cluster(nodes(1, gpu=8), [bound(on="n0", gpu=8)])
    old = replace(here, pods=tuple(replace(pods, requests={}) for pods in here.pods))
    with pytest.raises(InputError, match="does not say what each of its pods asks for"):
        RemovePods("here", "team")(question(PAIR, old))


# -- one cluster under two names --------------------------------------------------------------------------------------


def twins(*uids: str) -> Question:
    """Two nodes with room for the pair, under two names, and what tells whether they are the same."""
    both = (cluster(nodes(2, gpu=8), name=name) for name in ("a", "b"))
    return question(PAIR, *(replace(one, uids=frozenset([uid])) for one, uid in zip(both, uids, strict=True)))


@pytest.mark.parametrize(
    "edit", [Drain(Which("a", ("n0",))), Cordon(Which("b", ("n0",))), RemoveNodes(Which("a", ("n1",)))]
)
def test_what_happens_to_a_cluster_happens_under_all_of_its_names(edit: Edit) -> None:
    assert answer(edit(twins("u", "u"))).choice is None
    assert answer(edit(twins("u", "v"))).choice


def test_a_cluster_is_lost_under_all_of_its_names() -> None:
    assert [one.name for one in LoseCluster("a")(twins("u", "v")).clusters] == ["b"]
    with pytest.raises(InputError, match="the only cluster"):
        LoseCluster("a")(twins("u", "u"))


def test_under_a_name_that_could_not_be_read_nothing_is_changed() -> None:
    read, unread = cluster(nodes(2, gpu=8), name="a"), cluster(name="b", gaps=["cluster"])
    asked = question(PAIR, *(replace(one, uids=frozenset("u")) for one in (read, unread)))
    assert verdicts(Drain(Which("a", ("n0",)))(asked)) == ["unknown", "full"]
