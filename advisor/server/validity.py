"""From when to when a certificate is valid: two dates in its DER form (RFC 5280, section 4.1), and nothing else of it.

The standard library shows these dates of authorities and of peers, not of a server's own certificate.
"""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime

_FIRST = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_SEQUENCE, _VERSION, _SHORT_YEAR = 0x30, 0xA0, 0x17
_BEFORE_VALIDITY = 3
"""Serial number, algorithm, issuer."""


@dataclass(frozen=True, slots=True)
class Validity:
    begins: datetime
    ends: datetime

    def fault(self, now: datetime) -> str:
        """Why nobody believes the certificate now; empty while it is valid."""
        if now < self.begins:
            return f"the certificate is not valid before {_said(self.begins)}"
        return f"the certificate has ended at {_said(self.ends)}" if now > self.ends else ""


def _said(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def validity(text: str) -> Validity | None:
    """Of the first certificate of a PEM file; None for what has another form than it should."""
    found = _FIRST.search(text)
    try:
        return _read(ssl.PEM_cert_to_DER_cert(found[0])) if found else None
    except (ValueError, IndexError):
        return None


def _read(der: bytes) -> Validity:
    whole = _content(der, 0, _SEQUENCE)
    signed = _content(whole, 0, _SEQUENCE)
    at = _after(signed, 0) if signed[0] == _VERSION else 0
    for _ in range(_BEFORE_VALIDITY):
        at = _after(signed, at)
    dates = _content(signed, at, _SEQUENCE)
    return Validity(_date(dates, 0), _date(dates, _after(dates, 0)))


def _bounds(der: bytes, at: int) -> tuple[int, int]:
    """Where the content of the element at this place begins, and where it ends."""
    length = der[at + 1]
    if length < 0x80:
        return at + 2, at + 2 + length
    begin = at + 2 + (length & 0x7F)
    return begin, begin + int.from_bytes(der[at + 2 : begin])


def _content(der: bytes, at: int, tag: int) -> bytes:
    if der[at] != tag:
        raise ValueError(f"tag {der[at]:#x}")
    begin, end = _bounds(der, at)
    return der[begin:end]


def _after(der: bytes, at: int) -> int:
    return _bounds(der, at)[1]


def _date(der: bytes, at: int) -> datetime:
    """UTCTime has years of two digits from 1950 on, GeneralizedTime all four."""
    text = _content(der, at, der[at]).decode("ascii")
    if der[at] == _SHORT_YEAR:
        text = ("19" if text[:2] >= "50" else "20") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
