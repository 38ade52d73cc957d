"""The table at 80 and 200 columns, and what is said below it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from advisor.render import table
from advisor.render.ages import duration
from advisor.render.style import Style
from advisor.verdict import FITS, THIS_ASSIGNMENT, Answer, Placement, Report, Verdict
from tests.builders import NOON, role, workload
from tests.render.answers import answer, eu, faulty, l4, lines, nowhere, placed, report, smaller, unread, us

PLACED_80 = """\
JobSet team/llama (train.yaml:1): 3 pods, 12 nvidia.com/gpu
  CLUSTER  VERDICT  FREE  LARGEST GANG  WHY
* eu-h200  fits       24  all           on 2 nodes, in any order
  fra      unknown     -  -             127.0.0.1:6443 cannot be reached:
                                        connection refused
  us-h100  full       18  2 of 3        18 nvidia.com/gpu free in all, but no
                                        node has the 4 that one worker pod needs
  us-l4    never      12  0 of 3        no usable node is large enough: one
                                        leader pod needs 4 nvidia.com/gpu, the
                                        largest has 1

Place it on eu-h200: every pod has a node, in whatever order they are scheduled.
Nearest miss: us-h100. To make it fit: 2 more nodes like h100-01 (96 cpu, 8
  GPUs).

3 of 4 clusters read (not fra), as of 2026-11-30 12:00:00 UTC; the oldest data
  is 3h older.
Not read of us-h100: resourcequotas.
"""

PLACED_200 = """\
JobSet team/llama (train.yaml:1): 3 pods, 12 nvidia.com/gpu
  CLUSTER  VERDICT  FREE  LARGEST GANG  WHY
* eu-h200  fits       24  all           on 2 nodes, in any order
  fra      unknown     -  -             127.0.0.1:6443 cannot be reached: connection refused
  us-h100  full       18  2 of 3        18 nvidia.com/gpu free in all, but no node has the 4 that one worker pod needs
  us-l4    never      12  0 of 3        no usable node is large enough: one leader pod needs 4 nvidia.com/gpu, the largest has 1

Place it on eu-h200: every pod has a node, in whatever order they are scheduled.
Nearest miss: us-h100. To make it fit: 2 more nodes like h100-01 (96 cpu, 8 GPUs).

3 of 4 clusters read (not fra), as of 2026-11-30 12:00:00 UTC; the oldest data is 3h older.
Not read of us-h100: resourcequotas.
"""  # noqa: E501 - as wide as a screen

WIDE_80 = """\
JobSet team/llama (train.yaml:1): 3 pods, 12 nvidia.com/gpu
  CLUSTER  VERDICT  FREE  LARGEST GANG                  AGE
      WHY
* eu-h200  fits       24  all                            4s
      on 2 nodes, in any order
  fra      unknown     -  -                               -
      127.0.0.1:6443 cannot be reached: connection refused
  us-h100  full       18  1 of 1 leader, 1 of 2 worker   3h
      18 nvidia.com/gpu free in all, but no node has the 4 that one worker pod
      needs
  us-l4    never      12  0 of 1 leader, 0 of 2 worker   0s
      no usable node is large enough: one leader pod needs 4 nvidia.com/gpu, the
      largest has 1

Place it on eu-h200: every pod has a node, in whatever order they are scheduled.
  leader  h200-01
  worker  h200-[01-02]
Nearest miss: us-h100. To make it fit: 2 more nodes like h100-01 (96 cpu, 8
  GPUs).

eu-h200: fits
  note  3 pending pods of the same priority may take the room first

fra: unknown
  in doubt  127.0.0.1:6443 cannot be reached: connection refused

us-h100: full
  reason    worker: 18 nvidia.com/gpu free in all, but no node has the 4 that
            one worker pod needs (NodeResourcesFit)
  reason    leader: 2 tainted (TaintToleration)
  change    2 more nodes like h100-01 (96 cpu, 8 GPUs)
  change    tolerate maintenance=true (2 nodes)
  not read  resourcequotas: user reader may not list resourcequotas at cluster
            scope

us-l4: never
  reason  leader: no usable node is large enough: one leader pod needs 4
          nvidia.com/gpu, the largest has 1 (NodeResourcesFit)

3 of 4 clusters read (not fra), as of 2026-11-30 12:00:00 UTC; the oldest data
  is 3h older.
Not read of us-h100: resourcequotas.
"""

WIDE_200 = """\
JobSet team/llama (train.yaml:1): 3 pods, 12 nvidia.com/gpu
  CLUSTER  VERDICT  FREE  LARGEST GANG                  AGE  WHY
* eu-h200  fits       24  all                            4s  on 2 nodes, in any order
  fra      unknown     -  -                               -  127.0.0.1:6443 cannot be reached: connection refused
  us-h100  full       18  1 of 1 leader, 1 of 2 worker   3h  18 nvidia.com/gpu free in all, but no node has the 4 that one worker pod needs
  us-l4    never      12  0 of 1 leader, 0 of 2 worker   0s  no usable node is large enough: one leader pod needs 4 nvidia.com/gpu, the largest has 1

Place it on eu-h200: every pod has a node, in whatever order they are scheduled.
  leader  h200-01
  worker  h200-[01-02]
Nearest miss: us-h100. To make it fit: 2 more nodes like h100-01 (96 cpu, 8 GPUs).

eu-h200: fits
  note  3 pending pods of the same priority may take the room first

fra: unknown
  in doubt  127.0.0.1:6443 cannot be reached: connection refused

us-h100: full
  reason    worker: 18 nvidia.com/gpu free in all, but no node has the 4 that one worker pod needs (NodeResourcesFit)
  reason    leader: 2 tainted (TaintToleration)
  change    2 more nodes like h100-01 (96 cpu, 8 GPUs)
  change    tolerate maintenance=true (2 nodes)
  not read  resourcequotas: user reader may not list resourcequotas at cluster scope

us-l4: never
  reason  leader: no usable node is large enough: one leader pod needs 4 nvidia.com/gpu, the largest has 1 (NodeResourcesFit)

3 of 4 clusters read (not fra), as of 2026-11-30 12:00:00 UTC; the oldest data is 3h older.
Not read of us-h100: resourcequotas.
"""  # noqa: E501 - as wide as a screen

ROWS = """\
* eu-h200  fits     24  all     on 2 nodes, in any order
  fra      unknown   -  -       127.0.0.1:6443 cannot be reached: connection refused
  us-h100  full     18  2 of 3  18 nvidia.com/gpu free in all, but no node has the 4 that one worker pod needs
  us-l4    never    12  0 of 3  no usable node is large enough: one leader pod needs 4 nvidia.com/gpu, the largest has 1
"""

SEVERAL = """\
JobSet team/llama (train.yaml:1): 3 pods, 12 nvidia.com/gpu
  CLUSTER  VERDICT  FREE  LARGEST GANG  WHY
* eu-h200  fits       24  all           on 2 nodes, in any order
  fra      unknown     -  -             127.0.0.1:6443 cannot be reached: connection refused
  us-h100  full       18  2 of 3        18 nvidia.com/gpu free in all, but no node has the 4 that
                                        one worker pod needs
  us-l4    never      12  0 of 3        no usable node is large enough: one leader pod needs 4
                                        nvidia.com/gpu, the largest has 1

Place it on eu-h200: every pod has a node, in whatever order they are scheduled.
Nearest miss: us-h100. To make it fit: 2 more nodes like h100-01 (96 cpu, 8 GPUs).

JobSet team/bad (bad.yaml:1)
Not judged: its manifest has faults.

JobSet team/llama (train.yaml:1): 3 pods, 12 nvidia.com/gpu
  CLUSTER  VERDICT  FREE  LARGEST GANG  WHY
  us-h100  full       18  2 of 3        18 nvidia.com/gpu free in all, but no node has the 4 that
                                        one worker pod needs
  us-l4    never      12  0 of 3        no usable node is large enough: one leader pod needs 4
                                        nvidia.com/gpu, the largest has 1

No cluster can take all of it now; a retry may find room.
Nearest miss: us-h100. To make it fit: 2 more nodes like h100-01 (96 cpu, 8 GPUs).

3 of 4 clusters read (not fra), as of 2026-11-30 12:00:00 UTC; the oldest data is 3h older.
Not read of us-h100: resourcequotas.
"""


def below(text: str) -> list[str]:
    """What follows the rows."""
    found = list(lines(text))
    return found[found.index("") + 1 :]


def test_80_columns() -> None:
    assert table.table(placed(), Style(80)) == PLACED_80
    assert max(map(len, lines(PLACED_80))) <= 80


def test_200_columns() -> None:
    assert table.table(placed(), Style(200)) == PLACED_200


def test_in_a_pipe_every_cluster_is_one_line() -> None:
    assert table.table(placed(), Style()) == PLACED_200


def test_wide() -> None:
    assert table.wide(placed(), Style(80)) == WIDE_80
    assert table.wide(placed(), Style(200)) == WIDE_200
    assert max(map(len, lines(WIDE_80))) <= 80


def test_rows_only() -> None:
    assert table.table(placed(), Style(headers=False)) == ROWS
    assert len(lines(table.wide(placed(), Style(headers=False)))) == 4


def test_several_workloads_have_a_block_each() -> None:
    several = report(*placed().answers, answer(of=faulty()), *nowhere().answers)
    assert table.table(several, Style(100)) == SEVERAL


def test_colours_mark_verdicts_and_the_choice() -> None:
    text = table.table(placed(), Style(80, color=True))
    assert "\x1b[32mfits\x1b[0m" in text
    assert "\x1b[1m* eu-h200\x1b[0m" in text
    assert "\x1b[1;32mPlace it on eu-h200" in text
    plain = "".join(part.partition("m")[2] if n else part for n, part in enumerate(text.split("\x1b[")))
    assert plain == PLACED_80


def this_assignment() -> Verdict:
    placement = eu().placement
    assert placement
    return replace(eu(), placement=replace(placement, assurance=THIS_ASSIGNMENT))


NO_PODS = Verdict("eu", FITS, placement=Placement({}), taken_at=NOON, why="asks for no pods")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (answer(eu(), chosen=0), "Place it on eu-h200: every pod has a node, in whatever order they are scheduled."),
        (
            answer(this_assignment(), chosen=0),
            "Place it on eu-h200 with the assignment of -o wide: scheduled in another order it may not fit.",
        ),
        (answer(smaller(), chosen=0), "Place it on eu-small at a smaller size: 1 leader, 1 worker."),
        (answer(NO_PODS, of=workload(role(replicas=0)), chosen=0), "Place it on eu: it asks for no pods."),
        (answer(us(), l4()), "No cluster can take all of it now; a retry may find room."),
        (answer(l4()), "No cluster can ever take all of it: waiting does not help."),
        (answer(unread(), us()), "Cannot tell: fra may or may not take all of it."),
        (answer(smaller()), "No cluster can take all of it now; a retry may find room."),
    ],
)
def test_what_to_do(found: Answer, said: str) -> None:
    assert below(table.table(report(found), Style()))[0] == said


def test_a_smaller_size_is_offered() -> None:
    assert "Smaller: eu-small takes 1 leader, 1 worker with --allow-reduced." in below(
        table.table(report(answer(smaller(), us())), Style())
    )


def test_without_an_accelerator_the_title_counts_cpu_and_memory() -> None:
    asked = workload(role("web", 3, cpu=0.5, memory="1Gi"))
    title, *_ = lines(table.table(report(replace(answer(l4(), of=asked), accelerator="")), Style()))
    assert title == "Job team/train (train.yaml:1): 3 pods, 1.5 cpu, 3Gi memory"


def test_ages_count_from_the_question() -> None:
    late = Report(NOON + timedelta(days=3, hours=2), (answer(l4()),))
    assert below(table.table(late, Style()))[-1] == (
        "1 of 1 cluster read, as of 2026-12-03 14:00:00 UTC; the oldest data is 3d2h older."
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0s"),
        (0.9, "0s"),
        (119, "119s"),
        (120, "2m"),
        (125, "2m5s"),
        (1205, "20m"),
        (7200, "2h"),
        (9000, "2h30m"),
        (36000 + 1800, "10h"),
        (2 * 86400, "2d"),
        (30 * 86400 + 7200, "30d"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_names_keep_their_places() -> None:
    assert table.names(report(answer(eu(), chosen=0), answer(l4()), answer(smaller(), chosen=0)), Style()) == (
        "eu-h200\n\neu-small\n"
    )


def test_nothing_of_a_name_reaches_the_terminal_unseen() -> None:
    evil = replace(l4(), cluster="x\x1b[2J", why="one\ntwo\x07")
    text = table.table(report(answer(evil)), Style())
    assert "x\\x1b[2J" in text
    assert "\x1b" not in text
    assert "one two\\x07" in text


def test_long_names_push_the_reason_below() -> None:
    name = "gke_acme-ml-production_europe-west4-a_training-h100-mega"
    found = lines(table.table(report(answer(replace(us(), cluster=name))), Style(80)))
    assert found[3] == f"  {name}  full       18  2 of 3"
    assert found[4].startswith("      18 nvidia.com/gpu free in all")
