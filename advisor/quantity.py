"""Kubernetes quantities: text to whole numbers and back.

The API server rounds every quantity of a pod or node up to thousandths when it stores it (`SetDefaults_ResourceList`
in kubernetes/pkg/apis/core/v1/defaults.go), so a quantity is an integer number of *thousandths* here, never a float.
After summing over a pod it becomes *base units*, rounded up once: millicores for cpu, whole bytes or counts otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from advisor.errors import InputError

Amounts = Mapping[str, int]
"""Resource name → thousandths of a unit (as a container states it) or base units (as a pod asks for it)."""

_FACTORS = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    **{suffix: Fraction(10 ** (3 * (i + 1))) for i, suffix in enumerate("kMGTPE")},
    **{f"{suffix}i": Fraction(2 ** (10 * (i + 1))) for i, suffix in enumerate("KMGTPE")},
}
_GRAMMAR = re.compile(
    r"(?P<sign>[+-]?)(?P<number>\d+\.?\d*|\.\d+)(?:(?P<suffix>[numkMGTPE]|[KMGTPE]i)|[eE](?P<exponent>[+-]?\d{1,3}))?",
    re.ASCII,
)
BLANKS = " \u00a0"
"""What may stand around a quantity where the API server reads it itself; the CRDs of other kinds refuse it."""
_SPELLINGS = {
    "K": "k or Ki",
    "Kb": "k or Ki",
    "KB": "k or Ki",
    "kB": "k or Ki",
    "g": "G or Gi",
    "GiB": "Gi",
    "MiB": "Mi",
}
_MOST = 2**63 - 1
_LONGEST = 1000
"""Characters; what is longer is no amount that anybody meant, and more digits than Python converts."""


def parse(value: object) -> int:
    """Thousandths of a unit, rounded up, of what YAML made of a quantity (text, integer or float).

    Raises InputError for anything that the API server would not take as a quantity. Values above 2^63-1 units are
    capped there, as in k8s.io/apimachinery `resource.Quantity`.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{_shown(value)} is not a quantity", hint='write it as text, such as "500m" or "64Gi"')
    return _parse(value.strip(BLANKS) if isinstance(value, str) else repr(value))


@lru_cache(maxsize=65536)
def _parse(text: str) -> int:
    found = _GRAMMAR.fullmatch(text) if len(text) <= _LONGEST else None
    if not found:
        raise InputError(f'"{_shown(text)}" is not a quantity', hint=_advice(text))
    factor = Fraction(10) ** int(found["exponent"]) if found["exponent"] else _FACTORS[found["suffix"] or ""]
    thousandths = Fraction(found["number"].rstrip(".")) * factor * 1000
    whole = min(-(-thousandths.numerator // thousandths.denominator), _MOST * 1000)
    return -whole if found["sign"] == "-" else whole


def _advice(text: str) -> str:
    suffix = text.lstrip("+-0123456789.")
    if suffix.rstrip("bB") in _FACTORS and suffix[-1:] in ("b", "B"):
        return f'leave the {suffix[-1]} away: "{text[:-1]}"'
    if suffix in _SPELLINGS:
        return f"the suffix is {_SPELLINGS[suffix]}"
    return "a number and a suffix of n u m k M G T P E or Ki Mi Gi Ti Pi Ei, or an exponent such as 1e3"


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else type(value).__name__
    return text if len(text) <= 40 else text[:37] + "..."


def is_unit(value: object, *, least: Fraction) -> bool:
    """Is a quantity, as the API server writes it, a 1 with a suffix or none (`1Mi`, not `1048576`, and not `1e3`)?

    `least`: the smallest that counts. What is no quantity is no unit.
    """
    found = _GRAMMAR.fullmatch(value.strip(BLANKS) if isinstance(value, str) else repr(value))
    if not found or found["exponent"]:
        return False
    suffix = found["suffix"] or ""
    amount = Fraction(found["number"].rstrip(".")) * _FACTORS[suffix]
    step = 1024 if suffix.endswith("i") else 1000
    return found["sign"] != "-" and amount >= least and amount in (Fraction(step) ** power for power in range(-1, 7))


def base_units(resource: str, thousandths: int) -> int:
    """Millicores for cpu, whole units for everything else, rounded up."""
    return thousandths if resource == "cpu" else -(-thousandths // 1000)


def limit_units(resource: str, thousandths: int) -> int:
    """What a limit leaves of base units, rounded down: of 2500m devices a third one would be too many."""
    return thousandths if resource == "cpu" else thousandths // 1000


def in_bytes(resource: str) -> bool:
    """Is the resource counted in bytes, and so written with Ki, Mi, Gi?"""
    return resource in ("memory", "ephemeral-storage", "storage") or resource.startswith("hugepages-")


def canonical(resource: str, amount: int) -> str:
    """Kubernetes' canonical text of an amount in base units: `1500m`, `64Gi`, `8`."""
    if resource == "cpu":
        return f"{amount}m" if amount % 1000 else _suffixed(amount // 1000, 1000, "kMGTPE", "")
    if in_bytes(resource):
        return _suffixed(amount, 1024, "KMGTPE", "i")
    return _suffixed(amount, 1000, "kMGTPE", "")


def _suffixed(amount: int, step: int, suffixes: str, tail: str) -> str:
    power = 0
    while amount and amount % step == 0 and power < len(suffixes):
        amount //= step
        power += 1
    return f"{amount}{suffixes[power - 1]}{tail}" if power else str(amount)


def readable(resource: str, amount: int) -> str:
    """The amount as a person writes it: like `canonical`, but bytes keep two decimals at most and counts no suffix."""
    if resource == "cpu":
        return f"{amount / 1000:g}"
    if not in_bytes(resource):
        return str(amount)
    power = min(max((abs(amount).bit_length() - 1) // 10, 0), 6)
    text = f"{amount / 1024**power:.2f}".rstrip("0").rstrip(".")
    return f"{text}{' KMGTPE'[power]}i" if power else text
