"""Quantities (capacity.md 1.9, 0.4): text to whole numbers and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.quantity import base_units, canonical, in_bytes, parse, readable

AMOUNTS = st.integers(0, 2**63 - 1)
RESOURCES = st.sampled_from(["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu", "pods"])


@pytest.mark.parametrize(
    ("written", "thousandths"),
    [
        ("0", 0),
        ("1", 1000),
        ("+1", 1000),
        ("-1", -1000),
        ("007", 7000),
        ("1.5", 1500),
        (".5", 500),
        ("1.", 1000),
        ("1n", 1),
        ("0.1n", 1),
        ("1u", 1),
        ("1000u", 1),
        ("1001u", 2),
        ("1m", 1),
        ("0.5m", 1),
        ("500m", 500),
        ("1k", 10**6),
        ("1M", 10**9),
        ("1G", 10**12),
        ("1T", 10**15),
        ("1P", 10**18),
        ("1E", 10**21),
        ("1Ki", 2**10 * 1000),
        ("1Mi", 2**20 * 1000),
        ("1Gi", 2**30 * 1000),
        ("1Ti", 2**40 * 1000),
        ("1Pi", 2**50 * 1000),
        ("1Ei", 2**60 * 1000),
        ("0.5Gi", 2**29 * 1000),
        ("1.5Ti", 3 * 2**39 * 1000),
        ("1.Gi", 2**30 * 1000),
        ("0.0001Ki", 103),
        ("129e6", 129 * 10**9),
        ("1E3", 10**6),
        ("1e+3", 10**6),
        ("1e-3", 1),
        ("128974848000m", 128974848 * 1000),
        ("9223372036854775807", (2**63 - 1) * 1000),
        ("16Ei", (2**63 - 1) * 1000),
        ("1e300", (2**63 - 1) * 1000),
        (" 1", 1000),
        ("1 ", 1000),
    ],
)
def test_1_9_the_grammar(written: str, thousandths: int) -> None:
    assert parse(written) == thousandths


@pytest.mark.parametrize(
    ("value", "thousandths"),
    [(4, 4000), (0.5, 500), (0.1, 100), (1e9, 10**12), (1e22, (2**63 - 1) * 1000), (-2, -2000)],
)
def test_1_9_numbers_of_yaml_are_taken_by_their_text(value: float, thousandths: int) -> None:
    assert parse(value) == thousandths


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "1\t",
        "1 G",
        " ",
        "1 Gi",
        "Gi",
        ".",
        "e3",
        "1e",
        "1e1.5",
        "1K",
        "1Kb",
        "1g",
        "1GB",
        "1mi",
        "0x10",
        "1_000",
        "١",
        "1,5",
    ],
)
def test_1_9_what_is_no_quantity_is_an_error_and_never_zero(wrong: str) -> None:
    with pytest.raises(InputError, match="is not a quantity"):
        parse(wrong)


@pytest.mark.parametrize("wrong", [None, True, [], {}, float("nan"), float("inf"), "9" * 5000, "1e" + "0" * 5000])
def test_1_9_what_no_manifest_should_hold_is_an_error_too(wrong: object) -> None:
    with pytest.raises(InputError, match="is not a quantity"):
        parse(wrong)


@pytest.mark.parametrize(
    ("written", "hint"),
    [("1K", "k or Ki"), ("64GB", 'leave the B away: "64G"'), ("8GiB", 'leave the B away: "8Gi"'), ("8g", "G or Gi")],
)
def test_1_9_the_likely_spelling_is_told(written: str, hint: str) -> None:
    with pytest.raises(InputError) as wrong:
        parse(written)
    assert hint in wrong.value.faults[0].hint


@pytest.mark.parametrize(
    ("resource", "thousandths", "units"),
    [
        ("cpu", 1, 1),
        ("cpu", 1500, 1500),
        ("memory", 1, 1),
        ("memory", 1001, 2),
        ("memory", 128974848000, 128974848),
        ("nvidia.com/gpu", 2000, 2),
        ("hugepages-2Mi", 2**21 * 1000, 2**21),
    ],
)
def test_1_9_rounded_up_once_to_millicores_or_whole_units(resource: str, thousandths: int, units: int) -> None:
    assert base_units(resource, thousandths) == units


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 0, "0"),
        ("cpu", 1, "1m"),
        ("cpu", 1500, "1500m"),
        ("cpu", 8000, "8"),
        ("cpu", 2_000_000, "2k"),
        ("memory", 1023, "1023"),
        ("memory", 64 * 2**30, "64Gi"),
        ("memory", 3 * 2**29, "1536Mi"),
        ("hugepages-1Gi", 2**31, "2Gi"),
        ("nvidia.com/gpu", 8, "8"),
        ("nvidia.com/gpu", 1000, "1k"),
    ],
)
def test_the_canonical_text(resource: str, amount: int, text: str) -> None:
    assert canonical(resource, amount) == text


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 500, "0.5"),
        ("cpu", 96_000, "96"),
        ("memory", 0, "0"),
        ("memory", 512, "512"),
        ("memory", 3 * 2**29, "1.5Gi"),
        ("memory", 2**63 - 1, "8Ei"),
        ("nvidia.com/gpu", 1000, "1000"),
    ],
)
def test_as_a_person_writes_it(resource: str, amount: int, text: str) -> None:
    assert readable(resource, amount) == text


def test_what_is_counted_in_bytes() -> None:
    names = ["cpu", "memory", "ephemeral-storage", "storage", "hugepages-2Mi", "pods", "nvidia.com/gpu"]
    assert [name for name in names if in_bytes(name)] == ["memory", "ephemeral-storage", "storage", "hugepages-2Mi"]


@given(RESOURCES, AMOUNTS)
def test_reading_the_canonical_text_gives_the_amount_back(resource: str, amount: int) -> None:
    assert base_units(resource, parse(canonical(resource, amount))) == amount


@given(st.integers(0, 10**15))
def test_every_whole_number_of_thousandths_is_exact(thousandths: int) -> None:
    assert parse(f"{thousandths}m") == thousandths


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(["", "m", "k", "Ki", "Mi", "e3", "e-3"]))
def test_more_is_never_read_as_less(one: int, other: int, suffix: str) -> None:
    least, most = sorted((one, other))
    assert parse(f"{least}{suffix}") <= parse(f"{most}{suffix}")


@given(st.text(alphabet="0123456789.+-eEmkKiMG ", max_size=12))
def test_any_text_is_an_amount_or_an_error_of_the_input(text: str) -> None:
    try:
        assert abs(parse(text)) <= (2**63 - 1) * 1000
    except InputError as error:
        assert error.faults
