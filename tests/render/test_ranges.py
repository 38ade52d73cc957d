from __future__ import annotations

import pytest

from advisor.render.ranges import assigned, compact


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ""),
        (["gpu-01"], "gpu-01"),
        (["gpu-01", "gpu-02", "gpu-03", "gpu-04", "gpu-07"], "gpu-[01-04,07]"),
        (["gpu-10", "gpu-9", "gpu-08"], "gpu-[08,9-10]"),
        (["n9", "n10", "n11"], "n[9-11]"),
        (["n09", "n10"], "n[09-10]"),
        (["n009", "n10"], "n[009,10]"),
        (["n1", "n01"], "n[1,01]"),
        (["b-1", "a-2", "a-1", "alone"], "a-[1-2], alone, b-1"),
        (["1", "2"], "[1-2]"),
        (["ip-10-0-1-23.ec2.internal", "ip-10-0-1-24.ec2.internal"], "ip-10-0-1-[23-24].ec2.internal"),
        (["ip-10-0-1-23.ec2.internal", "ip-10-0-1-24.other"], "ip-10-0-1-23.ec2.internal, ip-10-0-1-24.other"),
        (["gke-pool-1a2b-x7k9", "gke-pool-1a2b-q0qz"], "gke-pool-1a2b-q0qz, gke-pool-1a2b-x7k9"),
        (["n1", "n1", "n2"], "n[1-2]"),
        (["n" + "1" * 40], "n" + "1" * 40),
    ],
)
def test_compact(names: list[str], expected: str) -> None:
    assert compact(names) == expected
    assert compact(reversed(names)) == expected


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ({"n1": 1, "n2": 1}, "n[1-2]"),
        ({"n1": 2, "n2": 2, "n3": 1}, "2 each on n[1-2]; 1 on n3"),
        ({"n1": 2, "n3": 1}, "2 on n1; 1 on n3"),
        ({}, ""),
    ],
)
def test_assigned(nodes: dict[str, int], expected: str) -> None:
    assert assigned(nodes) == expected
