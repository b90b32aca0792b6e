"""Columns beside the quasi-identifiers that give away what a release hides, and honest ones."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first

import sfumato as sf
from sfumato.reports.promise_words import promise_lines
from sfumato.reports.release_summary import release_summary
from sfumato.table import dependence
from sfumato.table.classification import open_classified
from sfumato.table.dependence import column_figures, leaks_by_making, of_unknown
from sfumato.table.door import open_table

HONEST = ("icd", "charge", "department", "region", "days", "remark")
DOCTORS = np.array(["dr lee", "dr ng", "nurse"])


def people(seed: int, *, repeated: bool) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Honest records of some persons, and columns that leak, by name."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(200, 1500))
    i = np.repeat(np.arange(n), rng.poisson(2, n) + 1 if repeated else 1)
    m = len(i)
    age = np.clip(rng.normal(50, 18, n), 18, 95).astype(int)[i]
    income = np.exp(rng.normal(10, 0.6, n)).astype(int)[i]
    place = rng.choice(rng.integers(10000, 99999, 200), n)[i]
    sex = rng.choice(["M", "F"], n)[i]
    ids = np.array([f"P{each:06d}" for each in rng.permutation(n)])[i]
    honest = pd.DataFrame(
        {
            "id": ids,
            "age": age,
            "income": income,
            "place": place,
            "sex": sex,
            "icd": rng.choice([f"{a}{b}" for a in "ABC" for b in range(10, 30)], m),
            "charge": rng.gamma(2.0, 100.0, m).round(2),
            "department": rng.choice(list("uvwx"), m),
            "region": rng.integers(0, 9, n)[i],
            "days": rng.integers(1, 40, m),
            "remark": [f"room {a} with {b}" for a, b in zip(
                rng.integers(1, 30, m), rng.choice(DOCTORS, m), strict=True
            )],
        }
    )  # fmt: skip
    month = rng.integers(0, 12, n)[i]
    leaks = {
        "birth_year": 2026 - age,
        "nearly": income * rng.uniform(0.99, 1.01, m),
        "affine": place * 7 + 13,
        "note": [
            f"pt aged {a} seen by {b}, visit {c}"
            for a, b, c in zip(age, rng.choice(DOCTORS, m), rng.integers(1, 9, m), strict=True)
        ],
        "born": [f"b. {2026 - a}/{b + 1:02d}" for a, b in zip(age, month, strict=True)],
        "months": age * 12 + month,
        "title": np.where(rng.random(m) < 0.03, "Dr", np.where(sex == "M", "Mr", "Ms")),
        "logarithm": np.log(income),
        "short_id": pd.Series(ids).str[1:].to_numpy(),
        "digest": [hashlib.sha256(each.encode()).hexdigest() for each in ids],
        "stamp": (np.datetime64("2024-01-01T00:00:00") + rng.integers(0, 10**8, n))[i],
        "house": rng.integers(1, 240, n)[i],
    }
    return honest, leaks


def schema_of(data: pd.DataFrame, repeated: bool, **fields: Any) -> sf.Schema:
    """The roles of the columns of `people`: all that leak are called insensitive."""
    roles = {"id", "age", "income", "place", "sex", "icd"}
    return sf.Schema(
        person="id" if repeated else None,
        direct_identifiers=[] if repeated else ["id"],
        quasi_identifiers={
            "age": "numeric", "income": "numeric", "place": "categorical", "sex": "categorical"
        },
        sensitive=["icd"],
        insensitive=[name for name in data if name not in roles],
        **fields,
    )  # fmt: skip


@pytest.mark.parametrize("repeated", [False, True], ids=["one record", "several"])
@pytest.mark.parametrize("seed", fast_first(2, range(4)))
def test_leaks_are_found_and_honest_columns_are_not(seed: int, repeated: bool) -> None:
    honest, leaks = people(seed, repeated=repeated)
    data = honest.assign(**leaks)
    found = {
        each.column
        for each in column_figures(open_table(data, schema_of(data, repeated)))
        if each.leak
    }
    assert found == set(leaks)


def followers(seed: int) -> tuple[pd.DataFrame, sf.Schema, dict[str, str]]:
    """Columns that follow from quasi-identifiers, and from which, beside honest ones."""
    rng, n = np.random.default_rng(seed), 900
    born = np.datetime64("1930-01-01") + rng.integers(0, 27_000, n)
    year = born.astype("M8[Y]").astype(int) + 1970
    town = rng.integers(0, 60, n)
    height = rng.normal(172, 9, n).round()
    weight = ((height - 100) * rng.normal(0.95, 0.15, n)).round()
    data = pd.DataFrame(
        {
            "born": born, "town": [f"town {each}" for each in town], "height": height,
            "weight": weight, "sex": rng.choice(["M", "F"], n), "icd": rng.choice(list("abcd"), n),
            "region": np.array(list("uvwxyz"))[town % 6],
            "weekday": (born.astype(int) + 3) % 7,
            "season": np.array(["winter", "spring", "summer", "autumn"])[
                born.astype("M8[M]").astype(int) % 12 // 3
            ],
            "generation": np.select([year < 1950, year < 1970], ["a", "b"], "c"),
            "bmi": (weight / (height / 100) ** 2).round(1),
            "retired": np.where(rng.random(n) < 1 / (1 + np.exp((year - 1958) / 4)), "yes", "no"),
            "waist": (weight * 0.7 + 35 + rng.normal(0, 6, n)).round(),
            "ward": np.where(rng.random(n) < 0.7, town % 6, rng.integers(0, 6, n)),
        }
    )  # fmt: skip
    by = {"region": "town", "weekday": "born", "season": "born", "generation": "born"}
    by["bmi"] = "height' and 'weight"
    names = [*by, "retired", "waist", "ward"]
    numbers = dict.fromkeys(("born", "height", "weight"), "numeric")
    schema = sf.Schema(
        quasi_identifiers={"town": "categorical", "sex": "categorical", **numbers},
        sensitive=["icd"],
        insensitive=names,
        accepted=dict.fromkeys(names, "to be attacked"),
    )
    return data, schema, by


@pytest.mark.parametrize("seed", fast_first(1, range(3)))
def test_columns_that_follow_from_quasi_identifiers_are_found(seed: int) -> None:
    data, schema, by = followers(seed)
    leaks = {each.column: each.leak for each in column_figures(open_table(data, schema))}
    assert {name for name, leak in leaks.items() if leak} == set(by)
    assert all(
        "follows from" in leaks[name] and f"'{of}'" in leaks[name] for name, of in by.items()
    )


def test_a_file_in_the_order_of_a_column_says_nothing_of_it() -> None:
    rng, n = np.random.default_rng(11), 900
    day = np.datetime64("2019-01-01") + 30 * np.sort(rng.integers(0, 24, n))
    sex, icd = rng.choice(["M", "F"], n), rng.choice(list("abcd"), n)
    data = pd.DataFrame({"sex": sex, "age": rng.integers(20, 90, n), "icd": icd, "day": day})
    known = {"sex": "categorical", "age": "numeric"}
    schema = sf.Schema(quasi_identifiers=known, sensitive=["icd"], insensitive=["day"])
    leaks = {each.column: each.leak for each in column_figures(open_table(data, schema))}
    assert leaks == {"icd": "", "day": ""}


@pytest.mark.parametrize("share", [0.29, 0.57, 0.004, 0.9996])
def test_what_a_column_tells_is_not_cut_off(share: float) -> None:
    figure = float(re.search(r"[\d.]+", of_unknown(share))[0])
    assert 0 < figure < 100
    assert figure == pytest.approx(100 * share, rel=1e-3)


def test_a_leak_stops_a_release_and_names_column_and_mechanism_only() -> None:
    honest, leaks = people(7, repeated=True)
    data = honest.assign(birth_year=leaks["birth_year"])
    with pytest.raises(sf.InputError, match=r"'birth_year'.*tells 'age' \(over 99") as refused:
        sf.anonymize(data, schema_of(data, True), sf.PidKAnonymity(5))
    assert not any(str(each) in str(refused.value) for each in leaks["birth_year"])


def test_what_is_accepted_goes_out_and_is_told_first() -> None:
    honest, leaks = people(7, repeated=True)
    data = honest.assign(house=leaks["house"])
    schema = schema_of(data, True, accepted={"house": "asked for by the ethics board"})
    release = sf.anonymize(data, schema, sf.PidKAnonymity(5))
    told = release.warnings[0]
    assert "'house'" in told
    assert told.endswith("by the ethics board")
    # Who is found, and a column that is lost, stand before it.
    summary = release_summary(release, promise_lines(release))
    assert any(told in each for each in summary.sentences[: 2 + len(summary.verdict.sentences)])
    accepted = [each for each in release.risk.columns if each.leak]
    assert [each.column for each in accepted] == ["house"]


WAYS = {
    "where it has no value": lambda age, sex, kept: [a if b == "M" else None for a, b in kept],
    "the way its values are written": lambda age, sex, kept: [
        a.upper() if b == "M" else a for a, b in kept
    ],
    "what follows the decimal point": lambda age, sex, kept: (
        np.arange(len(age)) * 7 % 90 + age / 100
    ),
}


@pytest.mark.parametrize("way", [None, *WAYS])
def test_what_the_way_of_writing_tells(way: str | None) -> None:
    rng = np.random.default_rng(2)
    age, sex = rng.integers(18, 90, 300), rng.choice(["M", "F"], 300)
    words = rng.choice([f"{a}{b}{c}" for a in "abc" for b in "def" for c in "ghi"], 300)
    kept = [(a if rng.random() > 0.1 else None, b) for a, b in zip(words, sex, strict=True)]
    if way:
        kept = [(a, b) for a, (_, b) in zip(words, kept, strict=True)]
        column = WAYS[way](age, sex, kept)
    else:
        column = [a for a, _ in kept]
    data = pd.DataFrame({"age": age, "sex": sex, "further": column})
    schema = sf.Schema(
        quasi_identifiers={"age": "numeric", "sex": "categorical"}, insensitive=["further"]
    )
    (found,) = column_figures(open_table(data, schema))
    assert f" by {way} (" in found.leak if way else not found.leak


@pytest.mark.parametrize(
    ("word", "joined"),
    [
        ("sum", lambda a, b: b - a),
        ("difference", lambda a, b: b + a),
        ("exclusive or", lambda a, b: a ^ b),
        ("", lambda a, b: b[::-1] + a),
    ],
)
def test_two_columns_that_tell_together_what_neither_tells(word: str, joined: Any) -> None:
    rng = np.random.default_rng(4)
    age, one = rng.integers(18, 90, 400), rng.integers(0, 60, 400)
    data = pd.DataFrame({"age": age, "one": one, "other": joined(one, age)})
    schema = sf.Schema(quasi_identifiers={"age": "numeric"}, insensitive=["one", "other"])
    for each, beside in zip(
        column_figures(open_table(data, schema)), ("other", "one"), strict=True
    ):
        said = f"tells 'age' together with '{beside}', by their {word}"
        assert each.leak == (said if word else "")


def test_an_id_behind_rounded_amounts() -> None:
    rng = np.random.default_rng(5)
    ids, charge = rng.permutation(300), rng.gamma(2.0, 100.0, 300).round(2)
    schema = sf.Schema(quasi_identifiers={"age": "numeric"}, insensitive=["charge"])
    person = schema.model_copy(update={"person": "id"})
    data = pd.DataFrame({"id": [f"P{each:06d}" for each in ids], "age": rng.integers(18, 90, 300)})
    for declared, table in ((schema, data.drop(columns="id")), (person, data)):
        for noise in (0.0, 1e-9):
            shown = table.assign(charge=charge + ids * noise)
            (found,) = column_figures(open_table(shown, declared))
            assert bool(found.leak) is bool(noise)
    assert "different for each person" in found.leak or "digits of 'id'" in found.leak


def test_of_few_persons_events_are_said_to_be_untested() -> None:
    rng = np.random.default_rng(6)
    data = pd.DataFrame(
        {"age": rng.integers(20, 30, 49), "code": rng.choice(list("ab"), 49), "id": range(49)}
    )
    schema = sf.Schema(
        person="id", quasi_identifiers={"age": "numeric"}, sensitive=["code"],
        events={"code": "code"},
    )  # fmt: skip
    promises = sf.PidKAnonymity(5), sf.KnownEvents(1, 0.5)
    said = [sf.anonymize(data, schema, *promises[:n], seed=1).warnings for n in (1, 2)]
    assert ["untested" in " ".join(each) for each in said] == [False, True]


@pytest.mark.slow
def test_a_column_that_tells_a_promised_event_stops_the_release_and_honest_ones_do_not() -> None:
    honest, _ = people(9, repeated=True)
    rng = np.random.default_rng(9)
    admitted = np.datetime64("2021-01-01") + rng.integers(0, 1400, len(honest))
    stay = rng.geometric(0.2, len(honest))
    leaks = {
        "discharged": admitted + stay,
        "half_year": pd.Series(admitted).dt.year * 2 + pd.Series(admitted).dt.month // 7,
        "code_name": "diagnosis " + honest["icd"].str.lower(),
    }
    events = {"admitted": {"kind": "date", "known": "3 days"}, "icd": {"kind": "code"}}
    data = honest.assign(admitted=admitted, stay=stay)
    promises = sf.PidKAnonymity(5), sf.KnownEvents(1, 0.5)
    for name, column in leaks.items():
        leaking = data.assign(**{name: column})
        schema = schema_of(leaking, True, events=events)
        sf.anonymize(leaking, schema, sf.PidKAnonymity(5), effort=0)  # events go out as they are
        with pytest.raises(sf.InputError, match=rf"'{name}'.*must not.*tells '(admitted|icd)' \("):
            sf.anonymize(leaking, schema, *promises, effort=0)
    accepted = schema_of(leaking, True, events=events, accepted={"code_name": "why"})
    for each, schema in ((data, schema_of(data, True, events=events)), (leaking, accepted)):
        assert sf.anonymize(each, schema, *promises, effort=0, seed=1).risk.records == len(data)


def naive_found(data: pd.DataFrame, column: str | None) -> float:
    """Who is named for the first record of each person in a class, one by one."""
    chances = []
    for _, whole in data.groupby(["age", "income", "place", "sex"], dropna=False):
        for _, own in whole.groupby("id"):
            alike = whole
            if column is not None and pd.notna(own[column].iloc[0]):
                alike = whole[whole[column] == own[column].iloc[0]]
            chances.append(1 / alike["id"].nunique())
    return float(np.mean(chances))


@pytest.mark.slow
@pytest.mark.parametrize("column", ["house", "icd", "days"])
def test_who_is_found_with_a_column_as_a_naive_count_says(column: str) -> None:
    honest, leaks = people(3, repeated=True)
    data = honest.assign(house=leaks["house"], age=honest["age"] // 20, income=0, place=0)
    data.loc[::7, "days"] = None
    schema = schema_of(data, True, accepted={"house": "why"})
    (each,) = [one for one in sf.assess(data, schema, columns=True).columns if one.column == column]
    assert each.without == pytest.approx(naive_found(data, None))
    assert each.found == pytest.approx(naive_found(data, column))
    release = sf.anonymize(data, schema, sf.PidKAnonymity(5), keep_order=True, seed=1)
    shown = {one["column"]: one for one in release.to_json()["columns"]}
    assert shown[column]["without"] == pytest.approx(naive_found(release.data, None))
    assert shown[column]["found"] == pytest.approx(naive_found(release.data, column))
    assert shown[column]["tells"].keys() == {"age", "income", "place", "sex"}


def test_of_large_files_some_classes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    n = 4000
    data = pd.DataFrame(
        {"age": rng.integers(20, 70, n), "sex": rng.choice(["f", "m"], n),
         "icd": rng.choice(list("abcdefgh"), n)}
    )  # fmt: skip
    schema = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["icd"])
    (whole,) = sf.assess(data, schema, columns=True).columns
    monkeypatch.setattr("sfumato.table.dependence.COUNTED", 1000)
    (some,) = sf.assess(data, schema, columns=True).columns
    assert whole.found is not None
    assert some.found == pytest.approx(whole.found, rel=0.1)
    assert some.found != whole.found


def test_what_the_order_of_rows_tells_within_classes_is_said_first() -> None:
    honest, _ = people(5, repeated=False)
    by_income = honest.sort_values("income")
    schema = schema_of(honest, False)
    for data, keep_order, told in (
        (honest, True, False), (by_income, True, True), (by_income, False, False)
    ):  # fmt: skip
        release = sf.anonymize(data, schema, sf.KAnonymity(10), keep_order=keep_order, seed=1)
        assert ("tells 'income'" in release.warnings[0]) is told
        assert (release.risk.columns[-1].role == "order") is told
        if told:
            assert release.risk.columns[-1].tells["income"] == 1.0
            assert release.risk.columns[-1].tells["age"] < 0.5


def test_nobody_is_asked_about_few_persons() -> None:
    honest, leaks = people(7, repeated=False)
    data = honest.assign(birth_year=leaks["birth_year"])[:40]
    assert open_classified(data, schema_of(data, False)).records == 40


def test_few_texts_are_read_where_nothing_shows_and_more_where_a_name_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So many that 25, then 200 people are asked of 1,200, as the reasons of the constants say."""
    n = 1200
    honest, told = ([f"{each} {i} {i:05d}X" for i in range(n)] for each in ("ward", "seen"))
    ids = [f"Q{i * 7919 % n:05d}V" for i in range(n)]
    data = pd.DataFrame({
        "id": ids, "age": [18 + i * i % 61 for i in range(n)],
        "icd": ["abc"[i % 3] for i in range(n)],
        "honest": honest, "told": [f"{one} {own}" for one, own in zip(told, ids, strict=True)],
    })  # fmt: skip
    schema = sf.Schema(
        direct_identifiers=["id"], quasi_identifiers={"age": "numeric"}, sensitive=["icd"],
        insensitive=["honest", "told"],
    )  # fmt: skip
    read, held = set(), dict(dependence.HELD)

    def noting(text: str) -> frozenset[str]:
        read.add(text)
        return held[dependence.WORDS][0](text)

    monkeypatch.setitem(dependence.HELD, dependence.WORDS, (noting, held[dependence.WORDS][1]))
    (found,) = leaks_by_making(open_table(data, schema))
    assert (found.column, "holds the" in found.how) == ("told", True)
    assert len(read & set(honest)) == 25
    assert len(read & set(data["told"])) == 200
