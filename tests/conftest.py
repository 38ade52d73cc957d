"""Fixtures for tests against real servers, and what happens where those cannot be had.

A test that needs a program which is neither there nor can be built is skipped, with the reason; where the environment
variable CI is set, nothing may be skipped, so it fails.
"""

import os
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from tests.servers import build
from tests.servers.pool import Pool, Servers

settings.register_profile("house", deadline=None)  # no test hangs on how fast a machine is
settings.load_profile("house")


@pytest.fixture(scope="session")
def server_pool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        build.prepare("kubernetes", "etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager")
    pool = Pool(tmp_path_factory.mktemp("servers"))
    yield pool
    pool.close()


@pytest.fixture
def servers(server_pool: Pool) -> Iterator[Servers]:
    """Real API servers, started when a test first asks for them: `eu, us = servers.fleet("eu", "us")`."""
    borrowed = Servers(server_pool)
    yield borrowed
    borrowed.give_back()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "server_pool" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.servers)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None]:
    yield from _skipping_the_unavailable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    yield from _skipping_the_unavailable()


def _skipping_the_unavailable() -> Generator[None]:
    try:
        yield
    except build.UnavailableError as fault:
        if os.environ.get("CI", "") not in ("", "0", "false"):
            raise
        pytest.skip(str(fault))
