"""What columns hold, told by their values: names, numbers of persons, dates of birth, codes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from few_cases import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from messy_files import COUNTRIES

from sfumato.linkage.column_counterparts import Content as Sample
from sfumato.linkage.column_meanings import kind_by_values
from sfumato.linkage.link_spec import ColumnKind
from sfumato.table.contents import _NATIONAL, Content, held_in, validator
from sfumato.table.value_forms import form_of

RNG = np.random.default_rng(7)
N = 300


def content(values: list[object], header: str = "") -> Content:
    return held_in(form_of(pa.chunked_array([values])), header).content


def drawn(words: str) -> list[object]:
    return RNG.choice(words.split("|"), N).tolist()


@pytest.mark.parametrize("country", sorted(COUNTRIES))
def test_names_streets_and_national_numbers(country: str) -> None:
    of = COUNTRIES[country]
    assert content(drawn(of.women + "|" + of.men)) is Content.GIVEN_NAME
    assert content(drawn(of.surnames)) is Content.SURNAME
    both = [f"{g} {s}" for g, s in zip(drawn(of.men), drawn(of.surnames), strict=True)]
    assert content(both) is Content.FULL_NAME
    assert content(drawn(of.jobs)) is Content.CATEGORY
    streets = [of.street.format(s, n) for n, s in enumerate(drawn(of.streets), 1)]
    assert content(streets) is Content.ADDRESS
    born = [dt.date(1930, 1, 1) + dt.timedelta(90 * n) for n in range(N)]
    numbers = [of.number(each, RNG) for each in born]
    assert content(numbers) is Content.NATIONAL_NUMBER
    wrong = [n[:-1] + chr((ord(n[-1]) - 48 + 1 + i % 8) % 10 + 48) for i, n in enumerate(numbers)]
    assert content(wrong) is not Content.NATIONAL_NUMBER


def shape(pattern: str) -> Callable[[], list[object]]:
    def sign(each: str) -> str:
        drawn_from = {"#": "0123456789", "?": "ABCDEFGHJKLM"}.get(each, each)
        return str(RNG.choice(list(drawn_from)))

    def made() -> list[object]:
        return ["".join(map(sign, pattern)) for _ in range(N)]

    return made


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: [f"u{n}@mail.example" for n in range(N)], Content.EMAIL),
        (shape("+49 171 #######"), Content.PHONE),
        (shape("(0##) ###-####"), Content.PHONE),
        (shape("10.0.#.1#"), Content.NETWORK_ADDRESS),
        (lambda: drawn("A01.1|B20|C34.9|E11|I10|J45.0|M54.5"), Content.DISEASE),
        (lambda: drawn("250.01|V70|401|E812|041|780.6"), Content.DISEASE),
        (lambda: drawn("A10BA02|C09AA05|N02BE01|J01CA04|A02BC01"), Content.DRUG),
        (lambda: drawn("718-7|2345-7|4548-4|2160-0|2951-2|6690-2"), Content.LABORATORY),
        (lambda: drawn("22298006|38341003|73211009|195967001|44054006|13645005|84114007|"
                       "271737000|40930008|414545008"), Content.CONCEPT),
        (shape("4#2# AB"), Content.POSTCODE),
        (lambda: [f"{n:05d}" for n in RNG.integers(1000, 1060, N)], Content.POSTCODE),
        (lambda: [f"DE{n:020d}" for n in range(N)], Content.IDENTIFIER),
        (lambda: RNG.integers(1930, 2010, N).tolist(), Content.YEAR_OF_BIRTH),
        (lambda: RNG.integers(2018, 2024, N).tolist(), Content.YEAR),
        (lambda: [int(n) for n in np.clip(RNG.normal(45, 22, 2000), 0, 97)], Content.AGE),
        (lambda: list(range(1, N + 1)), Content.IDENTIFIER),
        (lambda: RNG.normal(5, 1, N).round(2).tolist(), Content.MEASUREMENT),
        (lambda: np.exp(RNG.normal(10, 1, N)).astype(int).tolist(), Content.NUMBER),
        (lambda: drawn("W|m"), Content.SEX),
        (lambda: drawn("yes|no"), Content.YES_NO),
        (lambda: drawn("mild|moderate|severe"), Content.SCALE),
        (lambda: drawn("Germany|France|Spain|Italy"), Content.COUNTRY),
        (lambda: ["x"] * N, Content.CONSTANT),
        (lambda: [f"{n % 24:02d}:{n % 60:02d}" for n in range(N)], Content.TIME),
        (lambda: [f"{110 + n % 50}/{60 + n % 40}" for n in range(N)], Content.MEASUREMENT),
        (lambda: [f"Dr. Wnuk{'abcdef'[n % 6]}" for n in range(N)], Content.CATEGORY),
    ],
)  # fmt: skip
def test_kinds(make: Callable[[], list[object]], expected: Content) -> None:
    assert content(make()) is expected


def test_dates_of_birth_spread_and_events_do_not() -> None:
    past = [dt.date(2020, 1, 1) - dt.timedelta(int(d)) for d in RNG.integers(0, 33_000, N)]
    visits = [dt.date(2020, 1, 1) + dt.timedelta(int(d)) for d in RNG.integers(0, 1500, N)]
    assert content([*past]) is Content.DATE_OF_BIRTH
    assert content([*visits]) is Content.DATE


def test_codes_different_in_every_record_are_no_public_codes() -> None:
    assert content([f"{c}{n:02d}" for c in "ABCDEFGH" for n in range(50)]) is not Content.DISEASE


@pytest.mark.parametrize(
    ("values", "header", "held"),
    [
        ([f"{100 + i:03d}-{10 + i % 80}-{1000 + i}" for i in range(60)], "v1", "national number"),
        ([f"X{100_000 + 7 * i}" for i in range(60)] * 3, "v1", "identifier"),
        ([f"{53_000 + i:05d}{'-' * (i % 2)}{100 + i}" for i in range(60)] * 3, "CEP", "postcode"),
        (list(range(95)) * 6, "Leeftijd", "age"),
        (list(range(95)) * 6, "v3", "age"),
        ([f"{2010 + i % 9}/{i:05d}" for i in range(60)] * 3, "v1", "identifier"),
        (
            [f"{376 + i}.408.{6000 + i}{f'x{i + 10}' * (i % 2)}" for i in range(60)] * 3,
            "v1",
            "phone",
        ),
        ([f"{10_000 + 379 * i},{i + 10}" for i in range(60)], "v1", "measurement"),
        ([f"{['+91', '0'][i % 2]}{50_000_805 + 7 * i}" for i in range(60)] * 3, "v1", "phone"),
        (list(range(1, 61)) * 6, "hours_worked", "number"),
        (
            [f"{'ABCDEFGHIJKL'[i]}ruk {'ABCDEFGHIJKL'[i]}onst" for i in range(12)] * 9,
            "v1",
            "full name",
        ),
        (
            [f"{['Upper', 'Lower'][i % 2]} {'ABCDEFGHIJKL'[i]}ont" for i in range(12)] * 9,
            "v1",
            "category",
        ),
        ([f"San {'ABCDEFGHIJKL'[i]}ruke de los Bajos" for i in range(12)] * 9, "v1", "place"),
        (
            [f"whoever has been told to do the work of kind {i % 9}" for i in range(90)],
            "v1",
            "category",
        ),
        ([f"{'+55 ' * (i % 2)}{10 + i} {2000 + i}-{3000 + i}" for i in range(60)], "v5", "phone"),
    ],
)
def test_shapes_that_look_like_others(values: list[object], header: str, held: str) -> None:
    assert content(values, header) == held


NUMBERED = [
    *([f"{letter}{i:04d}" for i in range(1, 61)] for letter in ("U", "p", "AB")),
    [f"Z{i * 7919 % 9999:05d}" for i in range(1, 300)], [f"U{i}" for i in range(1500, 1600)],
    [f"{('AB', 'CD')[i % 2]}{i:04d}" for i in range(1, 61)],
    [f"U-{i * 7919 % 9999:04d}" for i in range(60)],
    [f"P-{i:04d}" for i in range(1, 61)], [f"D-{10_000 + i}" for i in range(60)],
    [f"U{i:04d}" for i in range(1, 20)],
]  # fmt: skip


@pytest.mark.parametrize("values", NUMBERED, ids=lambda each: f"{each[0]}x{len(each)}")
def test_a_letter_and_a_number_are_no_postcode(values: list[str]) -> None:
    assert content([*values] * 5, "v1") == "identifier"
    assert kind_by_values(Sample(pa.chunked_array([values]))) is not ColumnKind.POSTCODE
    assert kind_by_values(Sample(pa.chunked_array([values * 5]))) is not ColumnKind.POSTCODE


@pytest.mark.parametrize(
    "shape",
    ["SW###AA", "LS##9ZZ", "K1A #B#", "##5#AB", "D-8####", "A-1#5#", "LV-1###", "LT-0####",
     "AZ1###", "FL-9###"],
)  # fmt: skip
def test_postcodes_with_letters_stay_postcodes(shape: str) -> None:
    rng = np.random.default_rng(5)
    drawn = ["".join(str(rng.integers(10)) if c == "#" else c for c in shape) for _ in range(40)]
    assert content(drawn * 4, "v1") == "postcode"
    assert kind_by_values(Sample(pa.chunked_array([drawn * 4]))) is ColumnKind.POSTCODE


def test_postcodes_of_many_districts_and_by_their_header_stay_postcodes() -> None:
    districts = [f"{('BA', 'KB', 'TA')[i % 3]}{1000 + i * 7919 % 8000}" for i in range(60)] * 5
    assert content(districts, "v1") == content(NUMBERED[0] * 5, "postcode") == "postcode"


CHECKS = sorted({*_NATIONAL, ("iban", r"[A-Z]{2}\d{5,}", ""), ("luhn", r"\d{15}", ""),
                 ("verhoeff", r"\d+", ""), ("of.nothing", r"\d+", "")})  # fmt: skip


@settings(max_examples=examples(150), deadline=None)
@given(st.sampled_from(CHECKS).flatmap(
    lambda each: st.tuples(st.just(each[0]), st.from_regex(rf"\A(?:{each[1]})\Z") | st.text())
))  # fmt: skip
@example(("cn.ric", "354779198001015197"))
@example(("pt.cc", "000000000ZZ0"))
def test_no_foreign_check_of_numbers_ends_a_guess(given: tuple[str, str]) -> None:
    assert validator(given[0])(given[1]) in (True, False)


@example([756789.123456789012] * 3)
@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1e6), min_size=3, max_size=3))
def test_decimals_are_no_national_numbers(some: list[float]) -> None:
    numbers = [each + n / 7 for n in range(40) for each in some]
    assert content(numbers) not in (Content.NATIONAL_NUMBER, Content.PAYMENT_NUMBER)
