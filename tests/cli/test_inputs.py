"""Input that cannot be used: each a message with its place and what to do about it, exit code 2 or 5, no traceback."""

from __future__ import annotations

import itertools
import resource
from pathlib import Path

import pytest

from tests.cli import fleet
from tests.cli.conftest import Ran, Run
from tests.kube.objects import node

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  parallelism: 2
  template:
    spec:
      containers:
      - name: main
        resources:
          requests:
            memory: 8Gi
        image: example/train
      restartPolicy: Never
"""
BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
)
CLUSTERS = """\
apiVersion: wm-place/v1
kind: ClusterList
clusters:
- name: eu
  snapshot: eu.json
"""


def refused(ran: Ran, *messages: str, code: int = 2) -> None:
    assert ran.code == code
    assert ran.out == ""
    assert "Traceback" not in ran.err
    for message in messages:
        assert message in ran.err


@pytest.fixture
def eu(folder: Path) -> list[str]:
    fleet.record(folder, "eu", fleet.room("n"))
    return ["--from-snapshot", "eu.json"]


class TestManifests:
    @pytest.mark.parametrize(
        ("text", "messages"),
        [
            ("a: [1,\nb: }", ["job.yaml:2: is not YAML: "]),
            ("a:\n\t- b", ["job.yaml:2: is not YAML: "]),
            ("", ["there is no object in job.yaml"]),
            ("# nothing\n---\n", ["there is no object in job.yaml"]),
            ("just a text", ["job.yaml:1: is no Kubernetes object", "apiVersion, kind and metadata"]),
            ("kind: Job", ["job.yaml:1: is no Kubernetes object: apiVersion is missing"]),
            (
                JOB.replace("8Gi", "8Gb"),
                ['job.yaml:13 spec.template.spec.containers[0].resources.requests.memory: "8Gb"'],
            ),
            (JOB.replace("8Gi", "8Gb"), ['    leave the b away: "8G"']),
            (JOB.replace("parallelism: 2", "parallelism: -2"), ["job.yaml:6 spec.parallelism: must not be negative"]),
            (JOB.split("      containers")[0], ["job.yaml:8 spec.template.spec", "has no containers"]),
            (JOB.replace("metadata:", "kind: Job\nmetadata:"), ['job.yaml:3: the key "kind" stands twice']),
            (BOMB, ["job.yaml:7: expands to more than 1,000,000 values"]),
        ],
        ids=itertools.count(),
    )
    def test_each_fault_has_its_line(
        self, run: Run, folder: Path, eu: list[str], text: str, messages: list[str]
    ) -> None:
        (folder / "job.yaml").write_text(text)
        refused(run("job.yaml", *eu), *messages)

    def test_all_faults_of_all_files_at_once(self, run: Run, folder: Path, eu: list[str]) -> None:
        (folder / "one.yaml").write_text("a: [")
        (folder / "two.yaml").write_text("b: }")
        ran = run("one.yaml", "two.yaml", "three.yaml", *eu)
        refused(ran, "one.yaml:", "two.yaml:", "error: three.yaml: cannot be read: No such file or directory\n")
        assert len([line for line in ran.err.splitlines() if line.startswith("error: ")]) == 3

    def test_all_faults_of_one_workload_at_once(self, run: Run, folder: Path, eu: list[str]) -> None:
        (folder / "job.yaml").write_text(JOB.replace("8Gi", "8Gb").replace("parallelism: 2", "parallelism: -2"))
        refused(run("job.yaml", *eu), "job.yaml:6 ", "job.yaml:13 ")

    def test_a_large_file_is_not_read_whole(self, run: Run, folder: Path, eu: list[str]) -> None:
        with (folder / "large.yaml").open("wb") as file:
            file.truncate(50 << 20)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        refused(run("large.yaml", *eu), "large.yaml: is larger than 8 MiB", "--from-snapshot")
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000

    def test_stdin_has_the_same_limit(self, run: Run, eu: list[str]) -> None:
        refused(run("-", *eu, stdin="#" * (9 << 20)), "<stdin>: is larger than 8 MiB")
        refused(run("-", *eu), "there is no object in -")

    def test_binary(self, run: Run, folder: Path, eu: list[str]) -> None:
        (folder / "job.yaml").write_bytes(b"a: b\n\xff\xfe")
        refused(run("job.yaml", *eu), "job.yaml:3: is not YAML")

    def test_a_folder_without_manifests(self, run: Run, folder: Path, eu: list[str]) -> None:
        (folder / "empty").mkdir()
        refused(run("empty", *eu), "empty: is a folder without manifests", ".yaml, .yml, .json")

    def test_nothing_is_named(self, run: Run, eu: list[str]) -> None:
        refused(run(*eu), "no manifest is named", "- for stdin")

    def test_a_misspelt_command(self, run: Run) -> None:
        refused(run("desribe", "train.yaml"), '"desribe" is no command and no file', "did you mean describe?")

    def test_names_cannot_draw_on_the_terminal(self, run: Run, folder: Path, eu: list[str]) -> None:
        (folder / "job.yaml").write_text(JOB.replace("name: train", 'name: "\\e[2Jtrain"'))
        assert "\x1b" not in run("job.yaml", *eu).out


class TestSelectors:
    @pytest.mark.parametrize("text", ["team in (a", "=a", "a=b c", "a in b", "!", "a=b,,c", "(a)"])
    def test_what_kubectl_refuses(self, run: Run, folder: Path, eu: list[str], text: str) -> None:
        (folder / "job.yaml").write_text(JOB)
        refused(run("job.yaml", *eu, "-l", text), f'"{text}" is not a label selector', "such as -l team=ml")


class TestDefinitions:
    def test_a_wrong_path(self, run: Run, folder: Path, eu: list[str]) -> None:
        (folder / "job.yaml").write_text(JOB)
        fleet.write(folder / "foo.yaml", fleet.definition(path=".spec.["))
        ran = run("job.yaml", "--definition", "foo.yaml", *eu)
        refused(ran, "foo.yaml:14 spec.structureDefinition.rootComponent.specDefinition.podTemplateSpecPath: ")

    def test_no_definition_in_it(self, run: Run, folder: Path, eu: list[str]) -> None:
        (folder / "job.yaml").write_text(JOB)
        refused(run("job.yaml", "--definition", "job.yaml", *eu), "job.yaml: holds no definition")

    def test_not_there(self, run: Run, folder: Path, eu: list[str]) -> None:
        (folder / "job.yaml").write_text(JOB)
        ran = run("job.yaml", "--definition", "nowhere.yaml", *eu)
        refused(ran, "error: nowhere.yaml: cannot be read: No such file or directory\n")
        assert ran.err.count("error:") == 1


class TestClusters:
    @pytest.mark.parametrize(
        ("text", "messages"),
        [
            (
                CLUSTERS.replace("snapshot:", "snapshott:"),
                ["c.yaml:5 clusters[0].snapshott: ", "did you mean snapshot?"],
            ),
            (CLUSTERS.replace("eu.json", ""), ["c.yaml:4 clusters[0]: does not say where it is"]),
            (CLUSTERS + "policy: {strategy: packed}\n", ["c.yaml:6 policy.strategy: ", "did you mean pack?"]),
            (
                CLUSTERS + "policy: {strategy: cost}\n",
                ['c.yaml:6 policy.strategy: "cost" is not known here', "pack, spread"],
            ),
            (
                CLUSTERS.replace("snapshot: eu.json", "kubeconfig: nowhere"),
                ["c.yaml:5 clusters[0].kubeconfig: ", "nowhere"],
            ),
            (CLUSTERS + "---\n" + CLUSTERS, ["c.yaml: holds 2 documents, a ClusterList is one"]),
            ("", ["c.yaml: holds 0 documents"]),
            ("a: [}", ["c.yaml:1: is not YAML"]),
        ],
        ids=itertools.count(),
    )
    def test_a_clusters_file(self, run: Run, folder: Path, text: str, messages: list[str]) -> None:
        (folder / "job.yaml").write_text(JOB)
        (folder / "c.yaml").write_text(text)
        refused(run("job.yaml", "--clusters", "c.yaml"), *messages)

    def test_a_snapshot_that_is_not_there(self, run: Run, folder: Path) -> None:
        (folder / "job.yaml").write_text(JOB)
        (folder / "clusters.yaml").write_text(CLUSTERS)
        refused(run("job.yaml"), "eu.json: cannot be read")
        ran = run("job.yaml", "--from-snapshot", "one.json", "--from-snapshot", "two=two.json")
        refused(ran, "error: one.json: cannot be read", "error: two.json: cannot be read")

    def test_a_recording_with_faults(self, run: Run, folder: Path) -> None:
        (folder / "job.yaml").write_text(JOB)
        fleet.record(folder, "eu", [node("n1", cpu="x")])
        refused(run("job.yaml", "--from-snapshot", "eu.json"), "eu.json", 'cpu: "x" is not a quantity')

    def test_two_clusters_of_one_name(self, run: Run, folder: Path, eu: list[str]) -> None:
        (folder / "job.yaml").write_text(JOB)
        ran = run("job.yaml", *eu, "--from-snapshot", "eu=eu.json")
        refused(ran, "several clusters have the name eu", "--from-snapshot NAME=PATH")

    def test_no_kubeconfig_anywhere(self, run: Run, folder: Path) -> None:
        (folder / "job.yaml").write_text(JOB)
        refused(run("job.yaml"), "no kubeconfig at", "--clusters FILE, --from-snapshot PATH or --kubeconfig FILE")
        refused(run("job.yaml", "--kubeconfig", "nowhere"), "nowhere: cannot be read")

    def test_a_kubeconfig_without_contexts(self, run: Run, folder: Path) -> None:
        (folder / "job.yaml").write_text(JOB)
        (folder / "config").write_text("apiVersion: v1\nkind: Config\n")
        refused(run("job.yaml", "--kubeconfig", "config"), "there is no context in config", "--from-snapshot")

    def test_contexts_that_are_not_there(self, run: Run, folder: Path) -> None:
        (folder / "job.yaml").write_text(JOB)
        context = {"name": "prod", "context": {"cluster": "c", "user": "u"}}
        fleet.write(folder / "config", {"apiVersion": "v1", "kind": "Config", "contexts": [context]})
        ran = run("job.yaml", "--kubeconfig", "config", "--context", "prodd", "--context", "x")
        refused(ran, 'there is no context "prodd" in config', "did you mean prod?", 'there is no context "x" in config')


class TestFlags:
    @pytest.mark.parametrize(
        ("flags", "messages"),
        [
            ("--clusters a --context b", ["--clusters and --context contradict each other", "take one of the two"]),
            ("--clusters a --all-contexts", ["--clusters and --all-contexts contradict each other"]),
            ("--clusters a --kubeconfig b", ["--clusters and --kubeconfig contradict each other"]),
            ("--context a --all-contexts", ["--context and --all-contexts contradict each other"]),
            ("--from-snapshot eu.json --wait 1m", ["--wait and --from-snapshot contradict each other"]),
            ("--from-snapshot eu.json --kubeconfig a", ["--kubeconfig has no effect", "--all-contexts"]),
            ("--clusters a --context b --all-contexts", ["--clusters and --context", "--context and --all-contexts"]),
            ("--timeout 3", ['"3" is not a duration, such as 20s']),
            ("--max-age never", ['"never" is not a duration']),
            ("--prefer tier", ['"tier" is not KEY=VALUE']),
            ("--strategy dense", ["'dense' is not one of 'pack', 'spread'"]),
            ("-o xml", ["'xml' is not one of 'table', 'wide', 'json', 'yaml', 'name'", "see wm-place place --help"]),
            ("--solver-workers 0", ["0 is not in the range"]),
            ("--from-snapshots eu.json", ["No such option", "'--from-snapshot'"]),
            ("--context", ["requires an argument"]),
        ],
    )
    def test_what_cannot_be(self, run: Run, folder: Path, eu: list[str], flags: str, messages: list[str]) -> None:
        (folder / "job.yaml").write_text(JOB)
        refused(run("job.yaml", *flags.split()), *messages)

    def test_a_flag_from_the_environment_is_named_as_such(
        self, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder / "job.yaml").write_text(JOB)
        monkeypatch.setenv("WM_PLACE_KUBECONFIG", "config")
        monkeypatch.setenv("WM_PLACE_CLUSTERS", "other.yaml")
        ran = run("job.yaml", "--clusters", "c.yaml")
        refused(ran, "--clusters and --kubeconfig ($WM_PLACE_KUBECONFIG) contradict each other")
