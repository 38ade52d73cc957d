"""Which manifests are tried in this run, under which court, and the record of what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests import corpus
from tests.judges import manifests
from tests.judges.court import COURTS, Session
from tests.judges.manifests import Manifest
from tests.judges.record import Record
from tests.servers import build
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


def wanted(items: Sequence[pytest.Item]) -> dict[str, list[Manifest]]:
    """Court → manifests of the tests that were selected."""
    found: dict[str, list[Manifest]] = {}
    for item in items:
        params: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
        if "manifest" in params:
            found.setdefault(params["session"], []).append(params["manifest"])
    return found


@pytest.fixture(scope="session")
def workshop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Builds the programs of the courts to come while the first ones sit: they mostly wait."""
    courts = (COURTS[name] for name in wanted(request.session.items))
    modules = dict.fromkeys(controller.name for court in courts for controller in court.controllers)
    with ThreadPoolExecutor(1) as pool:
        tasks = [pool.submit(build.prepare, module, *build.MODULES[module]) for module in modules]
        yield
        for task in tasks:
            task.cancel()


@pytest.fixture(scope="session")
def session(
    request: pytest.FixtureRequest, server_pool: Pool, workshop: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    name, begun = request.param, time.monotonic()
    tried = wanted(request.session.items)[name]
    try:
        sitting = Session(server_pool, COURTS[name], tried, tmp_path_factory.mktemp(name))
    except build.BuildError as fault:
        raise build.UnavailableError(str(fault)) from fault  # skipped, but not where everything must run
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
