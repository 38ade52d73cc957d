"""The dates of a certificate, against those that openssl names."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from advisor.server.validity import validity

SECOND = timedelta(seconds=1)


def made(folder: Path, *key: str, days: str = "30") -> Path:
    path = folder / "made.crt"
    command = ["openssl", "req", "-x509", "-nodes", "-subj", "/CN=made", "-newkey", *key, "-days", days]
    files = ["-keyout", str(folder / "made.key"), "-out", str(path)]
    subprocess.run([*command, *files], check=True, capture_output=True)
    return path


def stated(path: Path) -> list[datetime]:
    """What openssl says of it."""
    command = ["openssl", "x509", "-noout", "-startdate", "-enddate", "-in", str(path)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [datetime.strptime(line.partition("=")[2], "%b %d %H:%M:%S %Y %Z").replace(tzinfo=UTC) for line in lines]


@pytest.mark.parametrize("key", [["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], ["rsa:2048"]])
@pytest.mark.parametrize("days", ["30", "36500"])  # from the year 2050 on, dates are written in another way
def test_the_dates_are_those_that_openssl_reads(tmp_path: Path, key: list[str], days: str) -> None:
    path = made(tmp_path, *key, days=days)
    found = validity(path.read_text())
    assert found
    assert [found.begins, found.ends] == stated(path)


def test_between_the_dates_nothing_is_wrong(tmp_path: Path) -> None:
    found = validity(made(tmp_path, "rsa:2048").read_text())
    assert found
    assert (found.fault(found.begins), found.fault(found.ends)) == ("", "")
    assert found.fault(found.begins - SECOND).startswith("the certificate is not valid before ")
    assert found.fault(found.ends + SECOND).startswith("the certificate has ended at ")


def test_of_a_chain_the_first_counts(tmp_path: Path) -> None:
    first = made(tmp_path, "rsa:2048", days="10").read_text()
    second = made(tmp_path, "rsa:2048", days="20").read_text()
    assert validity(f"words\n{first}{second}") == validity(first) != validity(second)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\nAgEB\n-----END CERTIFICATE-----",
    ],
)
def test_of_what_is_no_certificate_nothing_is_told(text: str) -> None:
    assert validity(text) is None
