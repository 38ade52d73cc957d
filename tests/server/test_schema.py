"""A server.yaml: what it says, and every fault of it at once, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor import files
from advisor.errors import InputError
from advisor.kube.clusters import ClusterEntry
from advisor.server import schema
from advisor.server.config import Config, Strictness

SHORT = """apiVersion: wm-place/v1
kind: ServerConfig
tls: {certificate: tls.crt, key: /keys/tls.key}
clusters: clusters.yaml
"""
MANIFESTS = Path(__file__).parents[2] / "deploy" / "manifests"


def read(text: str, name: str = "conf/server.yaml") -> Config:
    return schema.server_config(schema.only(files.documents(files.Source(name, text)), name))


def test_what_is_left_out_has_a_sensible_value() -> None:
    found = read(SHORT)
    assert (found.address, found.port, found.refresh, found.max_age) == ("0.0.0.0", 8443, 15.0, 60.0)
    assert (found.deadline, found.expiry, found.strictness) == (3.0, 300.0, Strictness())


def test_relative_paths_start_from_the_file() -> None:
    found = read(SHORT + "definitions: [more.yaml]")
    assert (found.certificate, found.key) == (Path("conf/tls.crt"), Path("/keys/tls.key"))
    assert (found.clusters, found.definitions) == (Path("conf/clusters.yaml"), (Path("conf/more.yaml"),))


def test_everything_can_be_said() -> None:
    found = read(
        SHORT
        + "listen: {address: '::', port: 443}\nrefresh: 1s\nmaxAge: 90s\ndeadline: 500ms\nlogLevel: debug\n"
        + "reservations: {expiry: 10m}\nenforcement: {refuseUnknown: true, refuseStale: true}\n"
    )
    assert (found.address, found.port, found.refresh, found.max_age, found.deadline) == ("::", 443, 1.0, 90.0, 0.5)
    assert (found.expiry, found.strictness, found.log_level) == (600.0, Strictness(True, True), "debug")


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("", None),
        ("hub: {inCluster: true}", ClusterEntry("hub", in_cluster=True)),
        ("hub: {kubeconfig: hub.yaml, context: main}", ClusterEntry("hub", Path("conf/hub.yaml"), "main")),
        ("hub: {context: main}", ClusterEntry("hub", None, "main")),
    ],
)
def test_the_way_to_the_management_cluster(text: str, entry: ClusterEntry | None) -> None:
    assert read(SHORT + text).hub == entry


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (SHORT + "hub: {}", ["5 hub: needs inCluster or a kubeconfig"]),
        (SHORT + "hub: {inCluster: true, context: main}", ["5 hub: needs inCluster or a kubeconfig"]),
        (SHORT + "hub: {incluster: true}", ["5 hub.incluster: is not known here"]),
        ("kind: ServerConfig", ["1 apiVersion: is missing", "1 tls: is missing", "1 clusters: is missing"]),
        (SHORT + "refesh: 1s", ["5 refesh: is not known here"]),
        (SHORT + "tsl: {}\nlisten: {port: 70000}", ["6 listen.port: should be less than", "5 tsl: is not known here"]),
        (SHORT + "deadline: 1", ["5 deadline:"]),
        (SHORT + "deadline: 30s", ["5 deadline: should be shorter than 30s"]),
        (SHORT + "refresh: 1m", ["5 refresh: should be shorter than maxAge (60s)"]),
        (SHORT + "maxAge: 10s", ["5 maxAge: should be longer than refresh (15s)"]),
        (SHORT + "logLevel: loud", ['5 logLevel: "loud" is not known here']),
        (SHORT + "definitions: more.yaml", ["5 definitions:"]),
        (SHORT + "enforcement: {refuseUnknown: maybe}", ["5 enforcement.refuseUnknown:"]),
        ("[]", ["1: should be a mapping"]),
    ],
)
def test_every_fault_has_its_line(text: str, faults: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read(text, "server.yaml")
    said = [str(fault) for fault in caught.value.faults]
    assert len(said) == len(faults)
    for fault, start in zip(said, faults, strict=True):
        assert fault.startswith(f"server.yaml:{start}"), fault


def test_a_file_holds_one_configuration() -> None:
    with pytest.raises(InputError, match="holds 2 documents"):
        read(f"{SHORT}---\n{SHORT}")
