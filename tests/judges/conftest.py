"""Which manifests are tried in this run, under which court, and the record of what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests import corpus
from tests.judges import manifests
from tests.judges.court import COURTS, Session
from tests.judges.manifests import Manifest
from tests.judges.record import Record
from tests.servers.pool import Pool


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-manifests", action="store_true", help="try every manifest, not some of each kind")


def chosen(config: pytest.Config, court: str) -> list[Manifest]:
    most = None if config.getoption("--all-manifests", default=False) else manifests.SAMPLE
    return [one for kind in COURTS[court].kinds for one in manifests.of(kind)[:most]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "manifest" in metafunc.fixturenames:
        unwanted = metafunc.config.option.markexpr == "not controllers"  # then nobody needs to read the corpus
        pairs = [(name, one) for name in COURTS for one in ([] if unwanted else chosen(metafunc.config, name))]
        ids = [f"{name}: {one.key}" for name, one in pairs]
        metafunc.parametrize(("session", "manifest"), pairs, indirect=["session"], ids=ids, scope="session")


@pytest.fixture(scope="session")
def session(
    request: pytest.FixtureRequest, server_pool: Pool, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    name = request.param
    begun = time.monotonic()
    params = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    wanted = [one["manifest"] for one in params if one.get("session") == name]
    sitting = Session(server_pool, COURTS[name], wanted, tmp_path_factory.mktemp(name))
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\n{name}: started in {time.monotonic() - begun:.0f} s", flush=True)
    yield sitting
    sitting.close()


@pytest.fixture(scope="session")
def record(request: pytest.FixtureRequest) -> Iterator[Record]:
    kept = Record.read()
    yield kept
    if request.config.getoption("--all-manifests", default=False) and corpus.FOLDER.is_dir():
        kept.keep([one.key for name in COURTS for one in chosen(request.config, name)])
    kept.write()
