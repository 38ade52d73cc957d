"""What people may write in clusters.yaml and in the catalogue of accelerators, and what they are told otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor import files
from advisor.accelerators import MEANINGS, Accelerators, Mark, Sign
from advisor.errors import InputError
from advisor.kube import schema
from advisor.kube.client import Access
from advisor.kube.clusters import ClusterEntry, ClusterFile, of_contexts, sources
from advisor.kube.collect import Live
from advisor.kube.kubeconfig import load
from advisor.kube.recorded import Recorded
from advisor.labels import Requirement
from advisor.question import Policy
from tests.kube import stub
from tests.kube.objects import shipped

HEAD = "apiVersion: wm-place/v1\nkind: ClusterList\n"


def read(text: str, name: str = "conf/clusters.yaml") -> ClusterFile:
    (document,) = files.documents(files.Source(name, text))
    return schema.cluster_file(document)


def faults(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(HEAD + text)
    return [str(fault).replace("conf/clusters.yaml:", "") for fault in caught.value.faults]


def test_the_whole_of_it() -> None:
    found = read(
        HEAD
        + """
defaults: {timeout: 1m30s, maxAge: 500ms}
policy: {strategy: spread, prefer: [{label: tier, value: reserved}], allowReduced: true}
clusters:
- name: eu
  kubeconfig: ~/.kube/eu.yaml
  context: admin@eu
  labels: {tier: reserved, data/llama: "yes"}
  pricePerAcceleratorHour: {NVIDIA-H200: 3.10, other: 1}
  assume: {namespaces: create}
- {name: us, context: us}
- {name: here, inCluster: true}
- {name: old, snapshot: recorded/old.json.gz}
- {name: older, snapshot: /abs/older.json}
"""
    )
    assert (found.timeout, found.max_age) == (90.0, 0.5)
    assert found.policy == Policy("spread", (("tier", "reserved"),), allow_reduced=True)
    assert found.clusters == (
        ClusterEntry(
            "eu",
            kubeconfig=Path.home() / ".kube/eu.yaml",
            context="admin@eu",
            labels=(("data/llama", "yes"), ("tier", "reserved")),
            price={"NVIDIA-H200": 3.1, "other": 1},
            creates_namespaces=True,
        ),
        ClusterEntry("us", context="us"),
        ClusterEntry("here", in_cluster=True),
        ClusterEntry("old", snapshot=Path("conf/recorded/old.json.gz")),
        ClusterEntry("older", snapshot=Path("/abs/older.json")),
    )
    assert found.assume_namespaces == {"eu"}


def test_defaults() -> None:
    found = read(HEAD + "clusters: [{name: a, context: a}]")
    assert (found.timeout, found.max_age, found.policy) == (20.0, 30.0, Policy())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "clusters: [{name: a, context: a}]\nclustres: []",
            "4 clustres: is not known here\n    did you mean clusters?",
        ),
        (
            "clusters: [{name: a, kubeconfg: x}]",
            "3 clusters[0].kubeconfg: is not known here\n    did you mean kubeconfig?",
        ),
        ("defaults: {timeout: 20}\nclusters: [{name: a, context: a}]", '3 defaults.timeout: "20" is not a duration'),
        ("defaults: {timeout: 0s}\nclusters: [{name: a, context: a}]", '3 defaults.timeout: "0s" is not a duration'),
        (
            "defaults: {time-out: 1s}\nclusters: [{name: a, context: a}]",
            "defaults.time-out: is not known here\n    did you mean timeout?",
        ),
        (
            "policy: {strategy: pac}\nclusters: [{name: a, context: a}]",
            '"pac" is not known here\n    did you mean pack?',
        ),
        ("policy: {prefer: [{label: a, value: yes}]}\nclusters: [{name: a, context: a}]", "put it in quotes"),
        ("clusters: [{name: a, context: a, labels: {x: 1}}]", "clusters[0].labels.x: should be text"),
        (
            "clusters: [{name: a, context: a, assume: {namespaces: maybe}}]",
            '"maybe" is not known here\n    one of create',
        ),
        ("clusters: [{name: a, context: a, pricePerAcceleratorHour: {x: -1}}]", "greater than or equal to 0"),
        ("clusters: [{name: a, inCluster: 1}]", "clusters[0].inCluster: should be a valid boolean"),
        ("clusters: [{context: a}]", "3 clusters[0].name: is missing"),
        ("clusters: [{name: '', context: a}]", "clusters[0].name: should not be empty"),
        ("clusters: [{name: a}]", "clusters[0]: does not say where it is: kubeconfig or context, inCluster, snapshot"),
        ("clusters: [{name: a, context: a, snapshot: b}]", "says kubeconfig or context and snapshot: which is it?"),
        ("clusters: [{name: a, kubeconfig: a, inCluster: true}]", "says kubeconfig or context and inCluster"),
        ("clusters: [3]", "3 clusters[0]: should be a mapping"),
        ("clusters: []", "3 clusters: names no cluster"),
        ("clusters: {}", "3 clusters: should be a valid list"),
        ("{}", "names no cluster"),
        (
            "clusters: [{name: a, context: a}, {name: b, context: a}, {name: a, context: b}]",
            '"a" is the name of an earlier',
        ),
        (
            "clusters: [{name: a, context: a}]\ninventories: [{argocd: {}}]",
            "4 inventories: not read yet by this version",
        ),
        ("clusters: [{name: a, secretRef: {name: x}}]", "clusters[0].secretRef: not read yet by this version"),
    ],
)
def test_what_is_refused(text: str, says: str) -> None:
    found = faults(text if text != "{}" else "")
    assert len(found) == 1
    assert says in found[0]


def test_everything_at_once_and_each_with_its_line() -> None:
    found = faults(
        "policy: {strategy: pac}\nclusters:\n- name: a\n  context: a\n  snapshot: b\n- {nam: b, context: c}\n"
    )
    assert [fault.split(":")[0] for fault in found] == [
        "3 policy.strategy",
        "8 clusters[1].name",
        "8 clusters[1].nam",
        "5 clusters[0]",
    ]


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ("apiVersion: wm-place/v2\nkind: ClusterList\n", '1 apiVersion: "wm-place/v2" is not known here'),
        ("apiVersion: wm-place/v1\nkind: Clusterlist\n", "did you mean ClusterList?"),
        ("kind: ClusterList\n", "apiVersion: is missing"),
    ],
)
def test_another_kind_of_file(head: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read(head + "clusters: [{name: a, context: a}]")
    assert says in str(caught.value)


class TestSources:
    def test_each_entry_has_one(self, tmp_path: Path) -> None:
        stub.kubeconfig(tmp_path, "https://eu", name="eu")
        eu = "{name: a, kubeconfig: eu.kubeconfig, labels: {x: z}}"
        text = f"clusters: [{eu}, {{name: b, inCluster: true}}, {{name: c, snapshot: c.json}}]"
        found = sources(
            read(HEAD + "defaults: {timeout: 5s}\n" + text, f"{tmp_path}/clusters.yaml"), impersonate="jane"
        )
        context = load([f"{tmp_path}/eu.kubeconfig"]).context("eu")
        assert found == (
            Live("a", Access(context, "jane"), 5.0, (("x", "z"),)),
            Live("b", Access(None, "jane"), 5.0),
            Recorded("c", tmp_path / "c.json"),
        )

    def test_everything_that_is_not_there_at_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KUBECONFIG", str(stub.kubeconfig(tmp_path, "https://eu", name="eu")))
        entries = [
            "{name: a, kubeconfig: nowhere}",
            "{name: b, kubeconfig: eu.kubeconfig, context: us}",
            "{name: c, context: eus}",
            "{name: d, context: eu}",
        ]
        text = HEAD + "clusters:\n" + "".join(f"- {entry}\n" for entry in entries)
        with pytest.raises(InputError) as caught:
            sources(read(text, f"{tmp_path}/clusters.yaml"))
        assert [str(fault).replace(f"{tmp_path}/", "") for fault in caught.value.faults] == [
            "clusters.yaml:4 clusters[0].kubeconfig: nowhere: cannot be read: No such file or directory",
            'clusters.yaml:5 clusters[1].context: there is no context "us" in eu.kubeconfig',
            'clusters.yaml:6 clusters[2].context: there is no context "eus" in eu.kubeconfig\n    did you mean eu?',
        ]

    def test_of_contexts(self, tmp_path: Path) -> None:
        kubeconfig = load([str(stub.kubeconfig(tmp_path, "https://eu", name="eu"))])
        assert [source.name for source in of_contexts(kubeconfig)] == ["eu"]
        assert [source.name for source in of_contexts(kubeconfig, ["eu", "eu"])] == ["eu"]
        with pytest.raises(InputError) as caught:
            of_contexts(kubeconfig, ["a", "eu", "b"])
        assert len(caught.value.faults) == 2


class TestAccelerators:
    def read(self, text: str) -> Accelerators:
        head = "apiVersion: wm-place/v1\nkind: AcceleratorCatalog\n"
        (document,) = files.documents(files.Source("acc.yaml", head + text))
        return schema.accelerators(document)

    def test_what_is_shipped(self) -> None:
        found = shipped()
        assert found.resources[0] == "nvidia.com/gpu"
        assert found.products[0] == "nvidia.com/gpu.product"
        assert {sign.mark.means for sign in found.signs} == set(MEANINGS)
        assert len(set(found.resources)) == len(found.resources)

    def test_signs(self) -> None:
        one = "{resource: a/b, means: split, annotation: c/d}"
        other = "{resource: a/*, means: time-sliced, label: {key: k, operator: Exists}}"
        assert self.read(f"resources: [a/b]\nproducts: []\nsigns: [{one}, {other}]") == Accelerators(
            ("a/b",),
            (),
            (Sign(Mark("a/b", "split"), None, "c/d"), Sign(Mark("a/*", "time-sliced"), Requirement("k", "Exists"))),
        )

    @pytest.mark.parametrize(
        ("sign", "says"),
        [
            ("{resource: a/b, means: split}", "needs a label or an annotation, and not both"),
            ("{resource: a/b, means: split, annotation: c, label: {key: k, operator: Exists}}", "and not both"),
            ("{resource: a/b, means: splitt, annotation: c}", '"splitt" is not known here\n    did you mean split?'),
            ("{resource: a/b, means: split, label: {key: k, operator: Has}}", '"Has" is not known here'),
            ("{resource: a/b, means: split, label: {kye: k, operator: In}}", "did you mean key?"),
        ],
    )
    def test_wrong_signs(self, sign: str, says: str) -> None:
        with pytest.raises(InputError) as caught:
            self.read(f"resources: []\nproducts: []\nsigns:\n- {sign}")
        assert "acc.yaml:6" in str(caught.value)
        assert says in str(caught.value)
