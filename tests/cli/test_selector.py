from __future__ import annotations

import pytest

from advisor.commands import selector
from advisor.labels import Labels

LABELS: Labels = (("app.kubernetes.io/name", "train"), ("n", "5"), ("team", "ml"))


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("team=ml", True),
        ("team==ml", True),
        ("team = ml", True),
        ("team=vision", False),
        ("team!=vision", True),
        ("stage!=dev", True),
        ("team", True),
        ("stage", False),
        ("!stage", True),
        ("! team", False),
        ("team in (ml,vision)", True),
        ("team in ( ml , vision )", True),
        ("team notin (ml)", False),
        ("stage notin (ml)", True),
        ("n>4", True),
        ("n<5", False),
        ("team=ml,n=5", True),
        ("team=ml, n in (1,2), !x", False),
        ("app.kubernetes.io/name=train,team", True),
        ("x=", False),
    ],
)
def test_as_kubectl_has_it(text: str, matches: bool) -> None:
    assert selector.parse(text).matches(LABELS) is matches
