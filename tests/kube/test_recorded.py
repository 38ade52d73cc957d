"""Recorded clusters: ours come back as they were, kubectl's are read in every form it prints, and faults are placed."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot, Gap, Looked
from advisor.errors import InputError
from advisor.kube import recorded, recording, texts
from advisor.kube.conversation import Needs
from advisor.kube.progress import silent
from advisor.kube.recorded import Recorded
from tests.kube import fleet
from tests.kube.objects import Object, clusterwide, namespaced, node, pod, requested, shipped, snapshot

NOBODY = Accelerators()
MOMENT = datetime(2026, 11, 30, 10, tzinfo=UTC)


def rich() -> ClusterSnapshot:
    """A snapshot with something in every field."""
    term = {"topologyKey": "z", "labelSelector": {"matchLabels": {"a": "b"}}, "namespaceSelector": {}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    ports = {"containers": [{"name": "a", "ports": [{"containerPort": 1, "hostPort": 1}]}]}
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
    found = snapshot(
        node(
            "n1",
            {"metadata": {"uid": "u1", "labels": {"nvidia.com/gpu.replicas": "4"}}, "spec": {"unschedulable": True}},
            gpu="3",
        ),
        node("n2", {"spec": {"taints": [{"key": "a", "value": "b", "effect": "NoExecute"}]}}),
        pod("a", {"metadata": {"labels": {"x": "y"}}, "spec": {"affinity": affinity, **ports}}),
        pod("b", {"status": {"nominatedNodeName": "n2"}}, on=None, cpu="1"),
        pod("c", on=None, cpu="1"),
        namespaced("ResourceQuota", "q", {"spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort"]}}),
        namespaced("LimitRange", "l", {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}}),
        namespaced("PersistentVolumeClaim", "d", {"spec": {"volumeName": "v"}, "status": {"phase": "Bound"}}),
        clusterwide("PersistentVolume", "v", {"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}}),
        clusterwide("Namespace", "team", {"metadata": {"labels": {"t": "1"}}}),
        clusterwide("PriorityClass", "p", {"value": 3}, version="scheduling.k8s.io/v1"),
        clusterwide("RuntimeClass", "r", {"overhead": {"podFixed": {"cpu": "1"}}}, version="node.k8s.io/v1"),
        clusterwide("DeviceClass", "d", version="resource.k8s.io/v1"),
        namespaced("LocalQueue", "q", version="kueue.x-k8s.io/v1beta1"),
        clusterwide("Karta", "k", {"spec": {"structureDefinition": {}}}, version="run.ai/v1alpha1"),
        accelerators=shipped(),
    )
    gaps = (Gap("nodes", "forbidden", "may not"),)
    return replace(
        found,
        name="eu",
        api_versions=frozenset({"apps/v1"}),
        taken_at=MOMENT,
        version="v1.36.2",
        scope=("team",),
        looked_up=(Looked("example.com", "Runtime", objects=('{"metadata":{"name":"a"}}',), whole=False),),
        labels=(("a", "b"),),
        assumed=True,
        gaps=gaps,
    )


def plain(value: Any) -> Any:
    """A noun as data that == compares, arrays included."""
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.tolist())
    if hasattr(value, "__dataclass_fields__"):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return {key: plain(one) for key, one in value.items()} if isinstance(value, dict) else value


class TestOurs:
    def test_every_field_comes_back(self, tmp_path: Path) -> None:
        one = rich()
        assert all(plain(getattr(one, field.name)) for field in fields(one))
        recorded.write(tmp_path / "eu.json", [one])
        (back,) = recorded.read(tmp_path / "eu.json", NOBODY)
        assert plain(back) == plain(one)

    def test_what_is_not_known_comes_back_as_that(self) -> None:
        unknown = replace(snapshot(node()), namespaces=None, api_groups=None, scope=None, taken_at=None)
        assert plain(recording.decode(recording.encode([unknown]))) == plain(unknown)

    def test_equal_snapshots_are_equal_bytes(self, tmp_path: Path) -> None:
        for name in ("a.json.gz", "b.json.gz"):
            recorded.write(tmp_path / name, [rich()])
        assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()

    def test_packed_if_the_name_says_so(self, tmp_path: Path) -> None:
        recorded.write(tmp_path / "eu.json.gz", [rich()])
        assert json.loads(gzip.decompress((tmp_path / "eu.json.gz").read_bytes()))["kind"] == "ClusterSnapshot"
        assert [one.name for one in recorded.read(tmp_path / "eu.json.gz", NOBODY)] == ["eu"]

    def test_several_in_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "all.json"
        recorded.write(path, [rich(), replace(rich(), name="us")])
        assert [one.name for one in recorded.read(path, NOBODY)] == ["eu", "us"]
        source = Recorded("us", path, (("tier", "spot"),))
        found = source.read(Needs(), NOBODY, silent)
        assert (found.name, found.labels) == ("us", (("tier", "spot"),))
        with pytest.raises(InputError, match=r'holds 2 clusters, and none is called "uss"\n.*did you mean us'):
            Recorded("uss", path).read(Needs(), NOBODY, silent)

    def test_a_name_of_your_own_for_the_only_one(self, tmp_path: Path) -> None:
        recorded.write(tmp_path / "x.json", [rich()])
        assert Recorded("mine", tmp_path / "x.json").read(Needs(), NOBODY, silent).name == "mine"

    def test_keys_in_another_order(self, tmp_path: Path) -> None:
        content = json.loads(recording.encode([rich()]))
        (tmp_path / "x.json").write_text(json.dumps(dict(reversed(content.items())), indent=2))
        assert plain(recorded.read(tmp_path / "x.json", NOBODY)[0]) == plain(rich())

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"apiVersion": "wm-place/v2"}, 'apiVersion: "wm-place/v2" is not read by this version, only wm-place/v1'),
            ({"kind": "ClusterList"}, "kind: is a ClusterList, no snapshot"),
            ({"surprise": 1}, "unknown field surprise"),
            ({"taken_at": "2026-11-30T10:00:00"}, "taken_at: should say its time zone"),
            ({"gaps": [{"what": 1, "why": "", "text": ""}]}, "gaps[0].what: Expected str, got int"),
            ({"nodes.names": ["n2", "n1"]}, "nodes.names: should be sorted"),
            ({"nodes.names": ["n1"]}, "nodes.allocatable.cpu: has 2 entries for 1 nodes"),
            ({"nodes.requested": {"cpu": [-1, 0]}}, "nodes.requested"),
            ({"nodes.requested": {"cpu": [1 << 70, 0]}}, "nodes.requested"),
            (
                {"nodes.taints": {"values": [[]], "codes": [0, 1]}},
                "nodes.taints.codes: names a value that is not there",
            ),
            ({"nodes.labels": {"a": {"values": [None], "codes": [0]}}}, "nodes.labels.a.codes: has 1 entries"),
        ],
    )
    def test_what_was_tampered_with(self, tmp_path: Path, change: Object, says: str) -> None:
        content = json.loads(recording.encode([rich()]))
        for key, value in change.items():
            place, _, last = key.rpartition(".")
            (content[place] if place else content)[last] = value
        path = tmp_path / "eu.json"
        path.write_text(json.dumps(content))
        with pytest.raises(InputError) as caught:
            recorded.read(path, NOBODY)
        assert f"{path}:1" in str(caught.value)
        assert says in str(caught.value)

    def test_names_are_given_once(self, tmp_path: Path) -> None:
        recorded.write(tmp_path / "all.json", [rich(), rich()])
        with pytest.raises(InputError, match="several clusters called eu"):
            recorded.read(tmp_path / "all.json", NOBODY)


class TestWriting:
    def test_replaces_a_snapshot_and_nothing_else(self, tmp_path: Path) -> None:
        path = tmp_path / "eu.json"
        recorded.write(path, [rich()])
        recorded.write(path, [replace(rich(), name="new")])
        assert [one.name for one in recorded.read(path, NOBODY)] == ["new"]
        for other in ("precious", "", "{}", '{"apiVersion": "v1", "kind": "List", "items": []}'):
            path.write_text(other)
            with pytest.raises(InputError, match="exists and is not a snapshot of ours"):
                recorded.write(path, [rich()])
            assert path.read_text() == other

    def test_leaves_nothing_behind_when_it_fails(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="cannot be written"):
            recorded.write(tmp_path / "nowhere" / "eu.json", [rich()])
        (tmp_path / "folder").mkdir()
        with pytest.raises(InputError):
            recorded.write(tmp_path / "folder", [rich()])
        assert [path.name for path in tmp_path.iterdir()] == ["folder"]


OBJECTS = [node("n1"), pod("a", cpu="1"), pod("b", {"metadata": {"namespace": "other"}}, cpu="1")]


def listed(*objects: Object) -> Object:
    return {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": list(objects)}


def typed(*objects: Object) -> Object:
    """As `kubectl get --raw` and the API write it: the items don't say what they are."""
    bare = [{key: value for key, value in obj.items() if key not in ("apiVersion", "kind")} for obj in objects]
    return {"kind": f"{objects[0]['kind']}List", "apiVersion": "v1", "metadata": {"continue": ""}, "items": bare}


FORMS = {
    "kubectl.json": json.dumps(listed(*OBJECTS), indent=4),
    "compact.json": json.dumps(listed(*OBJECTS)),
    "raw.json": json.dumps(typed(OBJECTS[0])) + json.dumps(typed(*OBJECTS[1:])),
    "array.json": json.dumps(OBJECTS),
    "single.json": "\n".join(json.dumps(obj, indent=2) for obj in OBJECTS),
    "kubectl.yaml": yaml.safe_dump(listed(*OBJECTS)),
    "raw.yaml": yaml.safe_dump_all([typed(OBJECTS[0]), typed(*OBJECTS[1:])]),
    "several.yaml": yaml.safe_dump_all(OBJECTS),
    "flow.yaml": "---\n" + json.dumps(listed(*OBJECTS)),
    "wrong-suffix.txt": json.dumps(listed(*OBJECTS)),
}


class TestKubectl:
    @pytest.mark.parametrize("name", FORMS)
    @pytest.mark.parametrize("packed", [False, True])
    def test_every_form(self, tmp_path: Path, name: str, packed: bool) -> None:
        content = FORMS[name].encode()
        path = tmp_path / (f"{name}.gz" if packed else name)
        path.write_bytes(gzip.compress(content) if packed else content)
        (found,) = recorded.read(path, NOBODY)
        assert requested(found) == {"cpu": 2000, "pods": 2}
        assert found.name == name.removesuffix(".json").removesuffix(".yaml")

    def test_a_folder_is_one_cluster_and_repetitions_count_once(self, tmp_path: Path) -> None:
        folder = tmp_path / "eu"
        folder.mkdir()
        (folder / "nodes.json").write_text(json.dumps(listed(OBJECTS[0])))
        (folder / "pods.yaml").write_text(yaml.safe_dump(listed(*OBJECTS[1:])))
        (folder / "all.json.gz").write_bytes(gzip.compress(json.dumps(listed(*OBJECTS)).encode()))
        (folder / "README").write_text("not a recording")
        (found,) = recorded.read(folder, NOBODY)
        assert (found.name, requested(found)) == ("eu", {"cpu": 2000, "pods": 2})
        assert "3 objects are recorded more than once; the first of each counts" in found.notes

    def test_is_as_old_as_the_oldest_file(self, tmp_path: Path) -> None:
        for name, seconds in (("a.json", 1000), ("b.json", 2000)):
            (tmp_path / name).write_text(json.dumps(node(name)))
            os.utime(tmp_path / name, (seconds, seconds))
        (found,) = recorded.read(tmp_path, NOBODY)
        assert found.taken_at == datetime.fromtimestamp(1000, UTC)
        assert found.notes[0].startswith("recorded by kubectl: when is not said in it")

    @pytest.mark.parametrize(
        ("objects", "note"),
        [
            ([node()], "THE RECORDING HOLDS NO PODS: every node counts as empty, which is wrong if they were left out"),
            ([pod()], "THE RECORDING HOLDS NO NODES: it says nothing of what fits"),
            ([node(), pod()], "all recorded pods are of namespace team: those of others are missing if it was made"),
            (
                [node(), clusterwide("Namespace")],
                "taken as none, because the recording holds none: resourcequotas, lim",
            ),
        ],
    )
    def test_what_is_missing_is_noted(self, objects: list[Object], note: str) -> None:
        assert any(said.startswith(note) for said in snapshot(*objects).notes)

    def test_nothing_is_missing_nothing_is_noted(self) -> None:
        notes = snapshot(*OBJECTS).notes
        assert not any("PODS" in note or "namespace" in note.partition(":")[0] for note in notes)

    def test_what_is_there_is_not_called_missing(self) -> None:
        said = snapshot(node(), namespaced("ResourceQuota")).notes[-1]
        assert "resourcequotas" not in said
        assert "limitranges" in said

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            ("", ": holds no Kubernetes object"),
            ("[]", ": holds no Kubernetes object"),
            ("{}", ":1: is no Kubernetes object: it has no kind"),
            ("3", ":1: Expected object, got int"),
            ("{", ":1: is not whole JSON: it ends in the middle"),
            ('{"items": [{}\n\n x {}]}', ":1: is not JSON: something stands between two objects"),
            ("a: [", ":2: is not YAML"),
            ("\x00", ":1: is not YAML"),
            ('[\n{"apiVersion": "v1", "kind": "Pod", "spec": 3}]', ':2 Pod["without a name"].spec: Expected object'),
        ],
    )
    def test_what_is_no_recording(self, tmp_path: Path, content: str, says: str) -> None:
        path = tmp_path / "eu.json"
        path.write_text(content)
        with pytest.raises(InputError) as caught:
            recorded.read(path, NOBODY)
        assert f"{path}{says}" in str(caught.value)

    @pytest.mark.parametrize("form", ["json", "yaml"])
    def test_every_fault_has_its_line(self, tmp_path: Path, form: str) -> None:
        wrong = [node("a", cpu="x"), node("b"), node("c", {"spec": {"taints": [{"key": "k"}]}})]
        path = tmp_path / f"eu.{form}"
        content = listed(*wrong)
        text = json.dumps(content, indent=1) if form == "json" else yaml.safe_dump(content)
        path.write_text(text)
        with pytest.raises(InputError) as caught:
            recorded.read(path, NOBODY)
        first, second = caught.value.faults
        lines = text.splitlines()
        assert first.where and first.where.line and second.where and second.where.line
        assert lines[first.where.line - 1].strip() in ("{", "- apiVersion: v1", "-")
        assert str(first).endswith('Node.a.status.allocatable.cpu: "x" is not a quantity\n    ' + first.hint)
        assert "Node.c.spec.taints[0]: Object missing required field effect" in str(second)
        assert first.where.line < second.where.line

    def test_too_many_faults_end_it(self, tmp_path: Path) -> None:
        path = tmp_path / "eu.json"
        path.write_text(json.dumps([node(f"n{n}", cpu="x") for n in range(100)]))
        with pytest.raises(InputError) as caught:
            recorded.read(path, NOBODY)
        assert len(caught.value.faults) == 20

    def test_files_that_cannot_be_read(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="nowhere: cannot be read: No such file"):
            recorded.read(tmp_path / "nowhere", NOBODY)
        with pytest.raises(InputError, match="is a folder without recordings"):
            recorded.read(tmp_path, NOBODY)
        (tmp_path / "cut.json.gz").write_bytes(gzip.compress(FORMS["kubectl.json"].encode())[:-20])
        with pytest.raises(InputError, match="is not a whole gzip file"):
            recorded.read(tmp_path / "cut.json.gz", NOBODY)

    def test_yaml_has_a_limit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(texts, "YAML_LIMIT", 1 << 20)
        path = tmp_path / "eu.yaml"
        path.write_text("a: b\n" * (1 << 18))
        with pytest.raises(InputError, match=r"is YAML of more than 1 MiB\n.*kubectl get … -o json"):
            recorded.read(path, NOBODY)

    def test_ours_and_kubectls_do_not_mix(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_bytes(recording.encode([rich()]))
        (tmp_path / "b.json").write_text(json.dumps(node()))
        with pytest.raises(InputError, match="mixes snapshots with objects"):
            recorded.read(tmp_path, NOBODY)

    def test_memory_is_bounded_whatever_the_size(self, tmp_path: Path) -> None:
        path = tmp_path / "large.json"
        with path.open("w") as file:
            file.write('{"apiVersion": "v1", "items": [\n')
            file.write(
                ",\n".join(json.dumps({"apiVersion": "v1", "kind": "Pod", **fleet.pod(n, 9)}) for n in range(4000))
            )
            file.write('\n], "kind": "List"}')
        assert path.stat().st_size > 50 << 20
        tracemalloc.start()
        try:
            (found,) = recorded.read(path, NOBODY)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert sum(one.count for one in found.waiting) == 0
        assert peak < 45 << 20


@pytest.mark.parametrize(
    ("argument", "name", "path"),
    [
        ("eu=a/b.json", "eu", "a/b.json"),
        ("a/b.json", "", "a/b.json"),
        ("a/x=y.json", "", "a/x=y.json"),
        ("eu=~/x", "eu", str(Path.home() / "x")),
    ],
)
def test_named(argument: str, name: str, path: str) -> None:
    assert recorded.named(argument) == (name, Path(path))
