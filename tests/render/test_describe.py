"""The tree of roles."""

from __future__ import annotations

from advisor.render import describe
from advisor.render.style import Style
from tests.builders import pod, role, workload
from tests.render.answers import everything, faulty, lines, llama

DESCRIBED = """\
JobSet team/llama (train.yaml:1)
read by test (builtin)
ROLE       PODS  REQUESTS        PER POD  TOTAL
├─ leader  1     nvidia.com/gpu        4      4
│                cpu                   8      8
│                memory             64Gi   64Gi
└─ worker  2     nvidia.com/gpu        4      8
                 cpu                   8     16
                 memory             64Gi  128Gi
total      3     nvidia.com/gpu              12
                 cpu                         24
                 memory                   192Gi
gang: 1 leader, 2 worker
"""

EVERYTHING = """\
PyTorchJob team/all (train.yaml:1)
read by test (builtin)
ROLE       PODS     REQUESTS           PER POD     TOTAL
├─ leader  1        cpu                    0.5       0.5
├─ worker  4 (2–8)  nvidia.com/gpu           8        32
│                   cpu                     96       384
│                   ephemeral-storage   1.36Ti    5.46Ti
└─ proxy   2        memory             95.37Mi  190.73Mi
total      7        nvidia.com/gpu                    32
                    cpu                            384.5
                    ephemeral-storage             5.46Ti
                    memory                      190.73Mi
status: Running (phase Working)
  leader  1/1 ready, 1 finished, 1 failed  gpu-1
  worker  0/4 ready, 2 without a node
  proxy   0/2 ready, 2 without a node
1 of its pods belong to no role: 0 ready, gpu-2
pods may be missing here: may not list jobs (403)
gang: 1 leader
gang: 2 × (2 worker)
starts with 3 pods or more
worker starts after leader
proxy is added by the controller, the manifest does not name it
1 claim shared (2 nic) shared by 1 leader
leader: which devices one-gpu asks for is not known
not evaluated: spec.runPolicy.schedulingPolicy, a queue of Volcano

notes
  spec.replicas  nothing is said, so one leader
                 another version

JobSet team/bad (bad.yaml:1)
read by test (builtin)
It could not be read: its manifest has faults.
"""


def test_the_tree() -> None:
    assert describe.describe([llama()], Style(80)) == DESCRIBED


def test_wide_adds_notes_and_a_faulty_workload_says_so() -> None:
    assert describe.wide([everything(), faulty()], Style(80)) == EVERYTHING


def test_rows_only() -> None:
    found = lines(describe.describe([llama()], Style(headers=False)))
    assert found[0] == "├─ leader  1  nvidia.com/gpu     4      4"


def test_a_limit_stands_in_for_a_request() -> None:
    only = workload(role("main", 2, template=pod(limits={"cpu": 4, "nvidia.com/gpu": 1})))
    rows = [line.split() for line in lines(describe.describe([only], Style()))]
    assert ["nvidia.com/gpu", "1", "2"] in [row[-3:] for row in rows]
    assert ["cpu", "4", "8"] in rows


def test_a_role_without_requests_has_a_row() -> None:
    found = lines(describe.describe([workload(role("main", 3))], Style()))
    assert found[3] == "└─ main  3"


def test_names_are_kubectls() -> None:
    core = workload(name="one", kind="Pod", api_version="v1")
    assert describe.names([llama(), core], Style()) == "jobset.jobset.x-k8s.io/llama\npod/one\n"
