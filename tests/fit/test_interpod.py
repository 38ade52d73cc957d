"""InterPodAffinity: required anti-affinity (capacity.md 5.1, 2.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cluster import ClusterSnapshot
from advisor.fit import examine, interpod
from advisor.labels import PodAffinityTerm
from advisor.workload import Role
from tests.builders import (
    Bound,
    against,
    bound,
    cluster,
    gpus,
    namespace,
    node,
    nominated,
    role,
    selector,
    shape,
    workload,
)
from tests.fit.asking import doubted, refused, told

ZONE = "zone"
NODES = [
    node("a1", labels={ZONE: "a"}),
    node("a2", labels={ZONE: "a"}),
    node("b1", labels={ZONE: "b"}),
    node("nowhere"),
]
SPACES = [namespace(), namespace("red", colour="red"), namespace("blue", colour="blue")]


def here(*pods: Bound) -> ClusterSnapshot:
    return cluster(NODES, pods, namespaces=SPACES)


def mine(*terms: PodAffinityTerm, **labels: str) -> dict[str, list[str]]:
    there = here(bound("web", on="a1"), bound("daemon", on="b1", standing=True))
    return told(interpod.examine, shape(labels=labels, fields={"anti_affinity": terms}), there)


@pytest.mark.parametrize(
    ("wanted", "stopped"),
    [
        (against("name=web"), {"anti-affinity kubernetes.io/hostname against name=web": ["a1"]}),
        (against("name=web", key=ZONE), {"anti-affinity zone against name=web": ["a1", "a2"]}),
        (against("name=db"), {}),
        (against("name=web", key="absent"), {}),  # a node without the key is in no domain
        (against("name=web", namespaces=["red"]), {}),
        (against("name=daemon"), {"anti-affinity! kubernetes.io/hostname against name=daemon": ["b1"]}),
        (PodAffinityTerm(ZONE, None, ("team",)), {}),  # a null selector matches nothing
    ],
)
def test_5_1_the_pods_own_terms(wanted: PodAffinityTerm, stopped: dict[str, list[str]]) -> None:
    assert mine(wanted) == stopped


def test_5_1_a_term_over_everything_forbids_every_domain_with_a_pod() -> None:
    assert mine(against(key=ZONE)) == {
        "anti-affinity zone against everything": ["a1", "a2"],
        "anti-affinity! zone against everything": ["b1"],
    }


@pytest.mark.parametrize(
    ("wanted", "labels", "stopped"),
    [
        (against("app=train"), {"app": "train"}, ["a1"]),
        (against("app=train", key=ZONE), {"app": "train"}, ["a1", "a2"]),
        (against("app=train", key=ZONE), {"app": "serve"}, []),
        (against("!app", key=ZONE), {"app": "train"}, []),
        (against("!app", key=ZONE), {}, ["a1", "a2"]),
        (against("app=train", namespaces=["red"]), {"app": "train"}, []),
        (against("app=train", namespaces=["red", "team"]), {"app": "train"}, ["a1"]),
    ],
)
def test_5_1_symmetry_terms_of_bound_pods_forbid_their_domain(
    wanted: PodAffinityTerm, labels: dict[str, str], stopped: list[str]
) -> None:
    there = here(bound(on="a1", anti_affinity=[wanted]), bound(on="nowhere", anti_affinity=[wanted]))
    if stopped and wanted.topology_key != ZONE:
        stopped = [*stopped, "nowhere"]
    assert refused(interpod.examine, shape(labels=labels), there) == stopped


@pytest.mark.parametrize(
    ("wanted", "stopped"),
    [
        (against("app=x", namespaces=[], spaces=selector()), ["a1", "a2", "b1"]),  # {} is every namespace
        (against("app=x", namespaces=[], spaces=selector("colour=red")), ["a1"]),
        (against("app=x", namespaces=[], spaces=selector("colour")), ["a1", "a2"]),
        (against("app=x", namespaces=["blue"], spaces=selector("colour=red")), ["a1", "a2"]),  # either
        (against("app=x", namespaces=[], spaces=selector("colour=green")), []),
        (against("app=x"), ["b1"]),  # none given: the pod's own namespace
    ],
)
def test_5_1_namespaces_of_a_term(wanted: PodAffinityTerm, stopped: list[str]) -> None:
    app = {"app": "x"}
    there = here(
        bound(on="a1", namespace="red", labels=app),
        bound(on="a2", namespace="blue", labels=app),
        bound(on="b1", labels=app),
    )
    assert refused(interpod.examine, shape(fields={"anti_affinity": (wanted,)}), there) == stopped


def test_5_1_a_bound_pods_namespace_selector_is_held_against_the_namespace_of_the_new_one() -> None:
    only_red = against(namespaces=[], spaces=selector("colour=red"))
    there = here(bound(on="a1", anti_affinity=[only_red]))
    assert refused(interpod.examine, shape(namespace="red"), there) == ["a1"]
    assert refused(interpod.examine, shape(namespace="blue"), there) == []


def test_5_1_where_labels_of_namespaces_were_not_read_it_is_a_doubt() -> None:
    wanted = against("app=x", namespaces=[], spaces=selector("colour=red"))
    pods = [bound(on="a1", namespace="red", labels={"app": "x"}), bound(on="a2", namespace="red")]
    there = cluster(NODES, pods, namespaces=None)
    pod = shape(fields={"anti_affinity": (wanted,)})
    assert (refused(interpod.examine, pod, there), doubted(interpod.examine, pod, there)) == ([], ["a1"])
    every = shape(fields={"anti_affinity": (against("app=x", namespaces=[], spaces=selector()),)})
    assert refused(interpod.examine, every, there) == ["a1"]


def test_5_1_terminating_pods_still_count() -> None:
    there = here(bound("web", on="a1", terminating=True))
    pod = shape(fields={"anti_affinity": (against("name=web"),)})
    assert refused(interpod.examine, pod, there) == ["a1"]


@pytest.mark.parametrize(
    ("wanted", "stopped"),
    [
        (against("app=x"), ["a1"]),
        (against("app=x", key=ZONE), ["a1"]),  # its own node only: there the scheduler tries it
        (against("app=y", key=ZONE), []),
        (against("app=x", key="absent"), []),
    ],
)
def test_2_3_nominated_pods_count_on_their_node_in_both_directions(wanted: PodAffinityTerm, stopped: list[str]) -> None:
    held = cluster(NODES, nominated=[nominated("a1", labels={"app": "x"})])
    assert refused(interpod.examine, shape(fields={"anti_affinity": (wanted,)}), held) == stopped
    holding = cluster(NODES, nominated=[nominated("a1", anti_affinity=[wanted])])
    told_ = {f"anti-affinity {wanted}": stopped} if stopped else {}
    assert told(interpod.examine, shape(labels={"app": "x"}), holding) == told_


def test_2_3_nominated_pods_of_lower_priority_or_another_scheduler_do_not_count() -> None:
    wanted = against("app=x")
    pod = shape(fields={"anti_affinity": (wanted,), "priority": 10})
    low = nominated("a1", labels={"app": "x"}, priority=9)
    other = nominated("b1", labels={"app": "x"}, priority=11, scheduler="volcano")
    assert refused(interpod.examine, pod, cluster(NODES, nominated=[low, other])) == []
    unread = cluster(NODES, nominated=[low, other], gaps=["priorityclasses"])
    assert doubted(interpod.examine, pod, unread) == ["a1"]


def gang_role(name: str, replicas: int, *terms: PodAffinityTerm, **labels: str) -> Role:
    return role(name, replicas, labels=labels, anti_affinity=terms)


@pytest.mark.parametrize(
    ("roles", "apart"),
    [
        ([gang_role("a", 2, against("app=a"), app="a")], [("a", "a", "kubernetes.io/hostname")]),
        ([gang_role("a", 1, against("app=a"), app="a")], []),
        ([gang_role("a", 2, against("app=b"), app="a")], []),
        ([gang_role("a", 2, against("app=b", key=ZONE), app="a"), gang_role("b", 1, app="b")], [("a", "b", ZONE)]),
        ([gang_role("b", 1, app="b"), gang_role("a", 2, against("app=b", key=ZONE), app="a")], [("b", "a", ZONE)]),
        ([gang_role("a", 2, against("app=b"), app="a"), gang_role("b", 0, app="b")], []),
        ([gang_role("a", 2, against("app=a", namespaces=["red"]), app="a")], []),
        (
            [gang_role("a", 2, against("app=a"), against("app=a", key=ZONE), app="a")],
            [("a", "a", "kubernetes.io/hostname"), ("a", "a", ZONE)],
        ),
    ],
)
def test_5_1_inside_the_gang(roles: list[Role], apart: list[tuple[str, str, str]]) -> None:
    found = examine(workload(*roles), here(), gpus()).apart
    assert [(*rule.roles, rule.key) for rule in found] == apart


def test_5_1_inside_the_gang_unread_namespace_labels_are_a_doubt_that_can_only_forbid() -> None:
    wanted = against("app=a", namespaces=[], spaces=selector("colour=red"))
    job = workload(gang_role("a", 2, wanted, app="a"))
    unread = examine(job, cluster(NODES, namespaces=None), gpus())
    assert unread.apart == ()
    assert [(doubt.reason.subject, doubt.restricts) for doubt in unread.doubts] == [("labels of namespace team", True)]
    assert examine(job, here(), gpus()).doubts == ()
    stranger = workload(gang_role("a", 2, wanted, app="b"))
    assert examine(stranger, cluster(NODES, namespaces=None), gpus()).doubts == ()


PLACES = st.sampled_from(["a1", "a2", "b1", "nowhere"])
APPS = st.sampled_from(["x", "y"])
TERMS = st.builds(
    lambda app, key: against(f"app={app}", key=key), APPS, st.sampled_from([ZONE, "kubernetes.io/hostname"])
)
PODS = st.builds(
    lambda on, app, terms: bound(on=on, labels={"app": app}, anti_affinity=terms),
    PLACES,
    APPS,
    st.lists(TERMS, max_size=1),
)


@given(st.lists(PODS, max_size=4), PODS, st.lists(TERMS, max_size=2))
def test_taking_a_pod_away_never_turns_down_more_nodes(
    pods: list[Bound], more: Bound, terms: list[PodAffinityTerm]
) -> None:
    pod = shape(labels={"app": "x"}, fields={"anti_affinity": tuple(terms)})
    fewer = set(refused(interpod.examine, pod, here(*pods)))
    assert fewer <= set(refused(interpod.examine, pod, here(*pods, more)))


@given(st.lists(PODS, max_size=4), st.lists(TERMS, max_size=2))
def test_agrees_with_looking_at_each_pair_of_pods(pods: list[Bound], terms: list[PodAffinityTerm]) -> None:
    pod = shape(labels={"app": "x"}, fields={"anti_affinity": tuple(terms)})
    labels = {facts.name: facts.labels for facts in NODES}
    expected = {
        facts.name
        for facts in NODES
        for there in pods
        for found, other in ((terms, there.pods.labels), (there.pods.anti_affinity, pod.labels))
        for term in found
        if term.selector
        and term.selector.matches(other)
        and facts.labels.get(term.topology_key) is not None
        and facts.labels.get(term.topology_key) == labels[there.on].get(term.topology_key)
    }
    assert refused(interpod.examine, pod, here(*pods)) == sorted(expected)
