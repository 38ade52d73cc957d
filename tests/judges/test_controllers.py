"""The pods that real controllers make of public manifests, and of our own examples, are those that we announce."""

from __future__ import annotations

import pytest

from tests.judges.court import Session
from tests.judges.manifests import Manifest
from tests.judges.record import Record

pytestmark = pytest.mark.controllers


def test_the_controller_agrees(session: Session, manifest: Manifest, record: Record) -> None:
    verdict = session.verdict(manifest)
    record.note(verdict, session.judge.name, session.judge.version)
    assert not verdict.differences, "\n".join([*verdict.differences, *verdict.events])
