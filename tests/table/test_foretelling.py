"""What is made of cells that foretells what a release hides: kinds of leaks, and honest files."""

from __future__ import annotations

import base64
import codecs
import gzip
import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first

import sfumato as sf
from sfumato.table.dependence import column_figures
from sfumato.table.door import open_table
from sfumato.table.foretelling import Hidden, decoded
from sfumato.table.published_formulas import FORMULAS, Formula, Quantity, by_published


class People:
    """Some people with several records each, and what is drawn once for each of them."""

    def __init__(self, seed: int, persons: int, records: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.n = n = persons
        each = rng.integers(max(1, records // 2), records + records // 2 + 1, n)
        self.of = np.repeat(np.arange(n), each if records > 1 else 1)
        self.m = len(self.of)
        self.starts = np.flatnonzero(np.diff(self.of, prepend=-1))
        self.age = np.clip(rng.normal(50, 18, n), 18, 95).astype(int)
        self.sex = rng.choice(["M", "F"], n)
        self.female = (self.sex == "F") * 1
        self.income = np.exp(rng.normal(10, 0.6, n)).astype(int)
        self.place = rng.choice(rng.integers(10_000, 99_999, max(8, min(150, n // 8))), n)
        self.weight = np.clip(rng.normal(70, 12, n) + 8 * (1 - self.female), 40, 140).round(1)
        self.height = (rng.normal(163, 6, n) + 13 * (1 - self.female)).round()
        self.ids = rng.permutation(n) * 7 + 11
        self.place_of_record = np.arange(self.m) - self.starts[self.of]

    def share(self, total: np.ndarray, noise: float = 0.0) -> np.ndarray:
        """A number for each record; those of a person add up to a total."""
        parts = self.rng.gamma(2.0, 1.0, self.m)
        parts /= np.bincount(self.of, parts)[self.of]
        return (parts * total[self.of] * self.rng.normal(1, noise, self.n)[self.of]).round(2)

    def each(self, values: Any) -> np.ndarray:
        """A value of each person in all of their records."""
        return np.asarray(values)[self.of]

    def digits(self, low: int, high: int) -> np.ndarray:
        """A number for each record."""
        return self.rng.integers(low, high, self.m)


def egfr(p: People) -> dict[str, Any]:
    """Creatinine and CKD-EPI 2021."""
    scr = np.exp(p.rng.normal(-0.15, 0.3, p.m)).round(2)
    k, a = (np.where(p.female, *each)[p.of] for each in ((0.7, 0.9), (-0.241, -0.302)))
    gfr = 142 * np.minimum(scr / k, 1) ** a * np.maximum(scr / k, 1) ** -1.2 * 0.9938 ** p.age[p.of]
    gfr = gfr * 1.012 ** p.female[p.of]
    return {"creatinine": scr, "egfr": [">90" if each > 90 else f"{each:.0f}" for each in gfr]}


def encoded(p: People) -> list[str]:
    """JSON in base64, with a number of each record before what is hidden."""
    of_records = texts(p, p.age, '{{"visit": {1}, "age": {0}, "note": "seen"}}')
    return [base64.b64encode(each.encode()).decode() for each in of_records]


def gaps(p: People) -> np.ndarray:
    """Dates, the first two of a person as many days apart as the age."""
    first = p.rng.integers(0, 300, p.n)
    return np.datetime64("2020-01-01") + first[p.of] + p.place_of_record * p.age[p.of]


def checked(p: People) -> np.ndarray:
    """A number of a record, with two digits that check it and the age (ISO 7064)."""
    number = p.digits(1000, 9999)
    return number * 100 + (number + p.age[p.of]) % 97


def about_the_age(p: People) -> np.ndarray:
    """Numbers of which a person's mean is the age."""
    drawn = p.rng.normal(0, 25, p.m)
    return p.age[p.of] + drawn - (np.bincount(p.of, drawn) / np.bincount(p.of))[p.of]


def dosed(p: People) -> dict[str, Any]:
    """A dose, and the same by weight."""
    dose = p.rng.choice([50, 100, 150, 200, 400], p.m)
    return {"dose": dose, "by weight": (dose / p.weight[p.of]).round(3)}


def multiplied(p: People) -> dict[str, Any]:
    """Two numbers, of which the product is the income."""
    one = p.rng.uniform(1, 90, p.m).round(3)
    return {"one": one, "other": (p.income[p.of] / one).round(2)}


def texts(p: People, values: np.ndarray, form: str, high: int = 10**6) -> list[str]:
    """A text of each record, of a value of its person and a number of its own."""
    own = p.digits(0, high)
    return [form.format(a, b) for a, b in zip(p.each(values), own, strict=True)]


Kind = Callable[[People], Any]
KINDS: dict[str, Kind] = {
    "charges add up to the income": lambda p: p.share(p.income),
    "days between visits": gaps,
    "creatinine and eGFR": egfr,
    "base64 of JSON": encoded,
    "digits interleaved": lambda p: [
        "".join(a + b for a, b in zip(each[:5], each[5:], strict=True))
        for each in texts(p, p.place, "{}{:05d}", 10**5)
    ],
    "parity of a number": lambda p: p.digits(0, 50_000) * 2 + p.female[p.of],
    "device of the postcode": lambda p: texts(p, p.place * 7919 % 65536, "{:04x}{:06x}"),
    "check digits": checked,
    "mean is the age": about_the_age,
    "visits with a code": lambda p: np.where(p.place_of_record <= p.female[p.of], "x", "y"),
    "hexadecimal of a text": lambda p: [
        each.encode().hex() for each in texts(p, p.place, "place {} visit {}")
    ],
    "dose and dose by weight": dosed,
    "id in base32": lambda p: [
        base64.b32encode(each.encode()).decode() for each in texts(p, p.ids, "K{:06d}|{}")
    ],
    "product of two": multiplied,
    "sum of three": lambda p: (
        {"one": (a := p.digits(0, 300)), "two": (b := p.digits(0, 300)),
         "three": p.each(p.age * 2) - a - b}
    ),
    "bits mixed": lambda p: sum(
        ((p.age[p.of] >> each) & 1) << (2 * each + 1) | (p.digits(0, 2) << 2 * each)
        for each in range(8)
    ),
}  # fmt: skip
QUASI = {
    "age": "numeric", "sex": "categorical", "income": "numeric", "place": "categorical",
    "weight": "numeric", "height": "numeric",
}  # fmt: skip


def file_of(
    p: People, columns: dict[str, Any], quasi: tuple[str, ...]
) -> tuple[pd.DataFrame, sf.Schema]:
    """Records with two honest columns, and more."""
    data = pd.DataFrame({
        "id": p.each([f"K{each:06d}" for each in p.ids]),
        **{name: p.each(getattr(p, name)) for name in quasi},
        "icd": p.rng.choice([f"{a}{b}" for a in "ABC" for b in range(10, 20)], p.m),
        "days": p.rng.geometric(0.2, p.m),
        **columns,
    })  # fmt: skip
    schema = sf.Schema(
        person="id", quasi_identifiers={name: QUASI[name] for name in quasi}, sensitive=["icd"],
        insensitive=["days", *columns],
    )  # fmt: skip
    return data, schema


def told(p: People, made: Any, quasi: tuple[str, ...]) -> dict[str, str]:
    """The columns that leak, and how."""
    data, schema = file_of(p, made if isinstance(made, dict) else {"further": made}, quasi)
    figures = column_figures(open_table(data, schema))
    return {each.column: each.leak for each in figures if each.leak}


USUAL = ("age", "sex", "income", "place")
BODY = ("age", "sex", "weight", "height")


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_that_tell_by_what_is_made_of_them(kind: str) -> None:
    p = People(1, 250, 4)
    found = told(p, KINDS[kind](p), BODY if kind.startswith("dose") else USUAL)
    assert found
    assert "days" not in found
    assert "icd" not in found


def honest(p: People) -> dict[str, Any]:
    """Columns that go with what is hidden as they do in life."""
    ill = p.rng.random(p.m) < p.age[p.of] / 120
    admitted = np.datetime64("2019-01-01") + p.digits(0, 1500)
    stay = p.rng.geometric(1 / np.clip(2 + p.age[p.of] / 20, 1, 9))
    return {
        "education": p.each(np.clip((np.log(p.income) - 10) * 2.5 + p.rng.normal(3, 1.2, p.n), 0, 6)
                            .astype(int)),
        "illness": np.where(ill, "chronic", "acute"), "admitted": admitted,
        "discharged": admitted + stay, "stay": stay,
        "cost": (p.rng.gamma(3, 200, p.m) * (1 + stay)).round(2),
        "pressure": (110 + 0.45 * p.age[p.of] + p.rng.normal(0, 12, p.m)).round(),
        "creatinine": np.exp(p.rng.normal(-0.1, 0.3, p.m) + 0.2 * (1 - p.female[p.of])).round(2),
        "hospital": p.place[p.of] % 7 + p.digits(0, 2),
        "remark": texts(p, p.rng.choice(["stable", "better"], p.n), "{} in room {}", 40),
        "token": texts(p, p.ids * 0, "{}{:08x}", 2**32),
    }  # fmt: skip


@pytest.mark.parametrize(("records", "quasi"), fast_first(1, [(4, USUAL), (2, BODY)], tuples=True))
def test_honest_columns_tell_nothing(records: int, quasi: tuple[str, ...]) -> None:
    p = People(records, 150, records)
    assert told(p, honest(p), quasi) == {}


def test_the_number_of_records_stops_a_release_until_it_is_accepted() -> None:
    p = People(3, 250, 1)
    data, schema = file_of(p, {}, ("age", "sex"))
    data = data.loc[np.repeat(data.index, data["age"] // 10)]
    with pytest.raises(sf.InputError, match=r"column 'id'.*tells 'age' by the number of records"):
        sf.anonymize(data, schema, sf.PidKAnonymity(3), effort=0)
    accepted = schema.model_copy(update={"accepted": {"id": "counts are known"}})
    release = sf.anonymize(data, accepted, sf.PidKAnonymity(3), effort=0)
    assert release.warnings[0].endswith("accepted: counts are known")


def spread(p: People, values: list[str]) -> np.ndarray:
    """One sign of its person's value in each record."""
    places = zip(p.of, p.place_of_record, strict=True)
    return np.array([int(values[one][at % len(values[one])]) for one, at in places])


Named = Callable[[People, list[str], list[str], list[str]], Any]
IDENTIFIERS: dict[str, Named] = {
    "name in base64": lambda p, name, phone, number: [
        base64.b64encode(f"{name[each]}|{at}".encode()).decode()
        for at, each in enumerate(p.of)
    ],
    "telephone backwards": lambda p, name, phone, number: [
        f"{at % 97}-{phone[each][::-1]}" for at, each in enumerate(p.of)
    ],
    "hash of a number, cut": lambda p, name, phone, number: [
        f"{at}:{hashlib.sha256(number[each].encode()).hexdigest()[:12]}"
        for at, each in enumerate(p.of)
    ],
    "name in capitals, joined": lambda p, name, phone, number: [
        f"{at}{name[each].upper().replace(' ', '')}" for at, each in enumerate(p.of)
    ],
    "ROT13": lambda p, name, phone, number: [
        f"{codecs.encode(name[each], 'rot13')} {at}" for at, each in enumerate(p.of)
    ],
    "digits of the household": lambda p, name, phone, number: [
        f"{p.ids[each] // 14 + 4000}/{at}" for at, each in enumerate(p.of)
    ],
    "a digit in each record": lambda p, name, phone, number: spread(p, phone),
    "sum within the person": lambda p, name, phone, number: p.share(
        np.array([int(each) for each in phone])
    ),
    "sum of two": lambda p, name, phone, number: {
        "one": (one := p.digits(0, 10**7)),
        "two": np.array([int(phone[each]) for each in p.of]) - one,
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", fast_first(4, [*IDENTIFIERS, "nothing"]))
def test_direct_identifiers_are_given_away_in_no_column(kind: str) -> None:
    role = "sensitive" if len(kind) % 2 else "insensitive"
    p = People(5, 110, 12)
    syllables = ["an", "ber", "ci", "dor", "el", "fa", "gu", "hil"]
    words = ["".join(p.rng.choice(syllables, 3)).title() for _ in range(2 * p.n)]
    name = [f"{a} {b}" for a, b in zip(words[: p.n], words[p.n :], strict=True)]
    phone = [f"{each}" for each in p.rng.integers(10**7, 10**8, p.n)]
    number = [f"{each}" for each in p.rng.integers(10**10, 10**11, p.n)]
    data, schema = file_of(p, {}, ("age", "sex"))
    data = data.assign(
        name=p.each(name), phone=p.each(phone), number=p.each(number),
        home=p.each(p.ids // 14 + 4000), token=texts(p, p.ids * 0, "{}{:08x}", 2**32),
    )  # fmt: skip
    made = IDENTIFIERS[kind](p, name, phone, number) if kind in IDENTIFIERS else p.digits(0, 10**9)
    made = made if isinstance(made, dict) else {"further": made}
    roles = {"sensitive": schema.sensitive, "insensitive": schema.insensitive}
    declared = schema.model_copy(
        update={
            "direct_identifiers": ("name", "phone", "number"), "household": "home",
            role: (*roles[role], *made, "token"),
        }
    )  # fmt: skip
    figures = column_figures(open_table(data.assign(**made), declared))
    assert {each.column for each in figures if each.leak} == (
        set(made) if kind in IDENTIFIERS else set()
    )


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("CKD-EPI 2021 (", (1.0, 50.0, 1.0), 68.6),
        ("CKD-EPI 2009", (1.0, 50.0, 1.0), 65.8),
        ("CKD-EPI 2012", (1.0, 50.0, 0.0), 80.9),
        ("CKD-EPI 2021 of", (1.0, 1.0, 50.0, 0.0), 88.0),
        ("MDRD", (1.0, 50.0, 0.0), 79.1),
        ("Cockcroft", (1.0, 72.0, 40.0, 0.0), 100.0),
        ("Schwartz", (0.5, 120.0), 99.1),
        ("body mass", (70.0, 175.0), 22.9),
        ("DuBois", (70.0, 170.0), 1.81),
        ("Mosteller", (70.0, 170.0), 1.82),
        ("Mifflin", (70.0, 175.0, 30.0, 0.0), 1648.8),
        ("Harris", (70.0, 175.0, 30.0, 0.0), 1702.0),
        ("Watson", (70.0, 175.0, 30.0, 0.0), 41.9),
        ("Boer", (70.0, 175.0, 0.0), 56.0),
        ("Deurenberg", (25.0, 40.0, 0.0), 23.0),
        ("FIB-4", (50.0, 40.0, 200.0, 36.0), 1.67),
        ("peak flow", (40.0, 175.0, 0.0), 636.0),
    ],
)
def test_formulas_are_what_was_published(name: str, given: Any, value: float) -> None:
    (formula, *_) = [each for each in FORMULAS if each.name.startswith(name)]
    found = float(formula.value(*(np.float64(each) for each in given)))
    assert found == pytest.approx(value, rel=0.005)


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda each: each.name.split(" (")[0])
def test_each_formula_is_found_and_solved(formula: Formula) -> None:
    rng, people = np.random.default_rng(0), 300
    given = [
        rng.integers(0, 2, people).astype(float) if each == "female"
        else np.exp(rng.uniform(*np.log(np.array(SPREAD[each])), people))
        for each in formula.inputs
    ]  # fmt: skip
    # Women have no age in Watson's, and peak flow rises with it, then falls.
    wanted = "height" if formula.name.startswith(("Watson", "peak")) else "age"
    place = formula.inputs.index(wanted) if wanted in formula.inputs else 0
    codes = np.unique(given[place], return_inverse=True)[1]
    hidden = Quantity("hidden", given[place], Hidden("hidden", "'hidden'", codes, ordered=True))
    shown = [Quantity("result", formula.value(*given))]
    shown += [Quantity(f"{at}", each) for at, each in enumerate(given) if at != place]
    found = [each for each in by_published(shown, [hidden]) if each[2] == formula.name]
    assert found
    assert max(np.corrcoef(each[3], given[place])[0, 1] for each in found) > 0.95


SPREAD = {
    "age": (20, 60), "weight": (50, 100), "height": (150, 190), "creatinine": (0.6, 1.6),
    "cystatin": (0.6, 1.6), "enzyme": (15, 90), "platelets": (120, 400), "index": (18, 40),
}  # fmt: skip


def test_texts_are_decoded_in_turns_and_honest_ones_are_not() -> None:
    inner = [json.dumps({"b": [each, "x"], "a": f"né{each}"}) for each in range(60)]
    # By this time stamp every text has a plus.
    zipped = [gzip.compress(each.encode(), mtime=0x6B0AFE9B) for each in inner]
    packed = [base64.b64encode(each).decode() for each in zipped]
    assert all("+" in each for each in packed)
    for once in (packed, [each.encode().hex() for each in packed], inner):
        *_, (_, last) = decoded(once)
        assert last[7] == "a: né7; b 0: 7; b 1: x"
    assert not list(decoded([f"seen in room {each}" for each in range(60)]))
    assert not list(
        decoded([f"{each:08x}" for each in np.random.default_rng(0).integers(0, 2**32, 60)])
    )
