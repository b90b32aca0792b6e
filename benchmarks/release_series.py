"""Pairs and series of releases through a ledger; a reader of the written files goes after them.

Usage: release_series.py [FILE]

Each series is made of real or generated data, by the command line's own options: a release that is
refused is made again as the first proposal says, then as the next one does. What became of it is a
line of FILE (release_series.jsonl unless stated); series that are there are not made again.

The reader shares no code with sfumato. It holds the files that were handed over and knows the
quasi-identifiers of everybody; it joins records by what both files show unchanged, part by part
where a file has grown, and takes one of the likeliest. Of a sample of persons it counts how many
it finds, and for how many those who are left break a promise that their class keeps.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.examples import generate_clinics
from sfumato.ledger.release_ledger import ReleaseLedger, Terms

SAMPLE = 200
"""Persons whom the reader goes after."""
N, C = "numeric", "categorical"
TOLERABLE = 0.09
NEAR = 1e-4
"""Above what is added up for those who are as good as impossible."""
Promises = tuple[Any, ...]


@dataclass(frozen=True)
class Wanted:
    """A release that somebody asks for.

    Attributes
    ----------
    data
        The file, with a column ``person``.
    known
        Its quasi-identifiers, by their kinds.
    shown
        The columns beside them that are released as they are.
    promises
        What it keeps.
    ids
        The id of a person of the first files in this one.
    """

    data: pd.DataFrame
    known: dict[str, str]
    shown: tuple[str, ...]
    promises: Promises
    ids: Callable[[Any], Any] = lambda each: each


# ------------------------------------------------------------------------------ what is asked for


def informs(persons: int | None = None, seed: int = 0) -> pd.DataFrame:
    """Diagnoses of the persons of INFORMS, or of so many who are drawn."""
    folder = Path(os.environ.get("SFUMATO_DATA", "../shared/data")) / "informs"
    conditions = pd.read_parquet(folder / "conditions_2005.parquet")[["DUPERSID", "ICD9CODX"]]
    people = pd.read_parquet(folder / "demographics_2005.parquet")
    data = conditions.merge(people, on="DUPERSID").rename(
        columns={"DUPERSID": "person", "ICD9CODX": "code"}
    )
    data["code"] = data["code"].astype(str)
    data = data[~data["code"].str.startswith("-") & (data["EDUCYEAR"] >= 0)].reset_index(drop=True)
    return data if persons is None else drawn(data, persons, seed)


def clinics(persons: int, seed: int = 4) -> pd.DataFrame:
    """Visits to two made-up clinics."""
    visits = generate_clinics(persons, rng=seed).visits.to_pandas()
    return visits.rename(columns={"patient": "person", "icd9": "code"})


def adult(persons: int) -> pd.DataFrame:
    """Persons of Adult, one record each."""
    folder = Path(os.environ.get("SFUMATO_DATA", "../shared/data")) / "adult"
    data = pd.read_csv(folder / "adult.csv", sep=None, engine="python").sample(
        persons, random_state=1
    )
    return data.assign(person=[f"A{each}" for each in range(persons)])


def drawn(data: pd.DataFrame, persons: int, seed: int) -> pd.DataFrame:
    """The records of some persons."""
    ids = np.random.default_rng(seed).permutation(data["person"].unique())[:persons]
    return data[data["person"].isin(ids)].reset_index(drop=True)


def other_id(person: Any) -> str:
    """What a person is called under rewritten ids."""
    return "Z" + str(person)[::-1]


def rewritten(data: pd.DataFrame) -> pd.DataFrame:
    """The same under other ids, in another order."""
    return data.sample(frac=1, random_state=3).assign(person=data["person"].map(other_id))


def grown(data: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A file as it was, and with the records that came later."""
    return data.sample(frac=0.7, random_state=5).sort_index(), data


ANY = sf.Limits(found=1, person=1, learned=1)
"""Under which every release is ready: what is refused is for those before it."""
MARKET = (sf.GBalance(0.9), sf.HAffiliation(0.5))


def all_series() -> dict[str, Callable[[], list[Wanted]]]:
    """What is asked for, by name."""
    return {
        "pair of the issue: INFORMS whole": lambda: _pair(informs()),
        "rewritten ids: INFORMS": _rewritten_pair,
        "overlapping samples: INFORMS": _overlap,
        "grown file: clinics": _grown,
        "other columns: Adult": _adult_columns,
        "recoded: clinics": _recoded,
        "series of four: INFORMS": _four_informs,
        "series of four: clinics": _four_clinics,
    }


def _pair(data: pd.DataFrame) -> list[Wanted]:
    second = {"EDUCYEAR": N, "income": N, "poverty": N}
    return [
        Wanted(data, {"DOBYY": N, "SEX": C}, ("code",), MARKET),
        Wanted(data, second, ("code",), MARKET),
    ]


def _rewritten_pair() -> list[Wanted]:
    data = informs(5_000, 1)
    return [
        Wanted(data, {"DOBMM": N, "SEX": C, "RACEX": C}, ("code",), MARKET),
        Wanted(rewritten(data), {"DOBYY": N, "EDUCYEAR": N}, ("code",), MARKET, other_id),
    ]


def _overlap() -> list[Wanted]:
    data = informs(6_000, 2)
    ids = data["person"].unique()
    return [
        Wanted(data[data["person"].isin(ids[:4_000])], {"DOBYY": N, "marry": C}, ("code",), MARKET),
        Wanted(data[data["person"].isin(ids[2_500:])], {"SEX": C, "income": N}, ("code",), MARKET),
    ]


def _grown() -> list[Wanted]:
    before, now = grown(clinics(3_000))
    promises = (sf.PidKAnonymity(12), sf.HAffiliation(0.7))
    return [
        Wanted(before, {"age": N, "sex": C}, ("code",), promises),
        Wanted(now, {"zip": C, "education": C}, ("code", "department"), promises),
    ]


def _adult_columns() -> list[Wanted]:
    data = adult(6_000)
    promises = (sf.PidKAnonymity(5), sf.LDiversity(3))
    return [
        Wanted(data, {"age": N, "sex": C, "race": C}, ("occupation",), promises),
        Wanted(data, {"education": C, "marital-status": C}, ("occupation",), promises),
    ]


def _recoded() -> list[Wanted]:
    data = clinics(3_000, 6)
    coarse = data.assign(age=data["age"] // 10 * 10, zip=data["zip"].str[:4])
    promises = (sf.PidKAnonymity(10), sf.HAffiliation(0.7))
    return [
        Wanted(data, {"age": N, "sex": C}, ("department",), promises),
        Wanted(coarse, {"age": N, "zip": C}, ("department",), promises),
    ]


def _four_informs() -> list[Wanted]:
    data = informs(5_000, 3)
    some = drawn(data, 3_500, 7)
    before, now = grown(data)
    return [
        Wanted(before, {"DOBYY": N, "SEX": C}, ("code",), MARKET),
        Wanted(some, {"RACEX": C, "marry": C}, ("code",), MARKET),
        Wanted(data, {"income": N, "poverty": N}, ("code",), MARKET),
        Wanted(now, {"DOBMM": N, "EDUCYEAR": N}, ("code",), MARKET),
    ]


def _four_clinics() -> list[Wanted]:
    data = clinics(3_000, 8)
    promises = (sf.GBalance(0.9), sf.PidKAnonymity(8))
    decades = data.assign(age=data["age"] // 10 * 10)
    return [
        Wanted(data, {"age": N, "sex": C}, ("department",), promises),
        Wanted(drawn(data, 2_000, 9), {"zip": C}, ("department",), promises),
        Wanted(rewritten(data), {"education": C, "sex": C}, ("code",), promises, other_id),
        Wanted(decades, {"age": N, "education": C}, ("code", "department"), promises),
    ]


# ------------------------------------------------------------------------------ the custodian


@dataclass(frozen=True)
class HandedOver:
    """A file that went out, with what is true of it."""

    path: Path
    wanted: Wanted
    out: tuple[str, ...]


def made(wanted: Wanted, seed: int, more: Sequence[str] = ()) -> tuple[sf.Release, tuple[str, ...]]:
    """The release, under the options that a proposal names; the columns that it leaves out."""
    out = tuple(value for option, value in pairwise(more) if option == "--withhold")
    tau = [float(value) for option, value in pairwise(more) if option == "--marketer"]
    schema = sf.Schema(
        person="person", quasi_identifiers=wanted.known, sensitive=list(wanted.shown)
    )
    data = wanted.data[["person", *wanted.known, *wanted.shown]]
    promises = (*wanted.promises, *map(sf.MarketerRisk, tau))
    return sf.anonymize(data, schema, *promises, seed=seed, withhold=out), out


def through(series: list[Wanted], folder: Path, terms: Terms) -> tuple[list[HandedOver], list[Any]]:
    """Hand over what the ledger lets, as it is or as it proposes; the files and what was said."""
    files, said = list[HandedOver](), list[Any]()
    with ReleaseLedger.open(folder / "book" / "l.sqlite", folder / "keys", make=True) as book:
        book.settle(terms, note="benchmark", by="benchmark")
        for number, wanted in enumerate(series):
            waiting: list[list[str]] = [[]]
            first, tried = None, 0
            while waiting:
                words = waiting.pop(0)
                release, out = made(wanted, number + 1, words)
                first = release if first is None else first
                path = folder / f"{number}-{tried}" / "release.csv"
                path.parent.mkdir()
                release.write(path, memory=book)
                tried += 1
                try:
                    number_of = book.remembered()[-1].number
                    found = book.hand_over(number_of, f"r{number}", limits=ANY)
                except ConstraintsNotMetError as refused:
                    if tried == 1:
                        waiting = [
                            each for each in map(_options, refused.options) if "--" in str(each)
                        ]
                    continue
                except InputError:
                    break
                files.append(HandedOver(path, wanted, out))
                lost = _lost(release, wanted, out) - _lost(first, wanted, ())
                said.append({"with": words, "lost": lost, "said": found.most})
                break
            else:
                said.append(None)
    return files, said


def _options(proposal: str) -> list[str]:
    return shlex.split(re.sub(r": .*|make it with", "", proposal))


def _lost(release: sf.Release, wanted: Wanted, out: tuple[str, ...]) -> float:
    """The share of the cells, that of persons included, that say nothing."""
    cells = 1 + len(wanted.known) + len(wanted.shown)
    return (release.utility.ncp * len(wanted.known) + len(out)) / cells


# ------------------------------------------------------------------------------ the reader

History = tuple[tuple[tuple[str, ...], int], ...]
"""The records that somebody shows, each with how often."""


class Read:
    """A file as somebody reads it who knows the quasi-identifiers of everybody in it."""

    def __init__(self, handed: HandedOver, sample: Sequence[Any]) -> None:
        file = pd.read_csv(handed.path, dtype=str, keep_default_na=False)
        self.wanted = handed.wanted
        self._histories = dict[tuple[str, ...], list[History]]()
        self._counts = dict[tuple[str, ...], Counter[History]]()
        self.known = list(handed.wanted.known)
        self.shown = [name for name in handed.wanted.shown if name in file]
        named = file["person"] if "person" in file else pd.Series(np.arange(len(file)))
        self.whole = "person" in file
        cells = dict[tuple[str, ...], int]()
        self.cell_of, rows = list[int](), dict[Any, list[tuple[str, ...]]]()
        every = zip(named, file[self.known].to_numpy(), file[self.shown].to_numpy(), strict=True)
        for name, cell, row in every:
            if name not in rows:
                rows[name] = []
                self.cell_of.append(cells.setdefault(tuple(cell), len(cells)))
            rows[name].append(tuple(row))
        self.rows = list(rows.values())
        data = handed.wanted.data
        ids = [handed.wanted.ids(each) for each in sample]
        truth = data[data["person"].isin(ids)]
        self.truth = dict(iter(truth.groupby("person")))
        self.ids = [each if each in self.truth else None for each in ids]
        self.fits = {
            name: np.array([self._fits(cell, own.iloc[0]) for cell in cells])[self.cell_of]
            for name, own in self.truth.items()
        }

    def _fits(self, cell: tuple[str, ...], person: pd.Series) -> bool:
        return all(_holds(each, person[name]) for each, name in zip(cell, self.known, strict=True))

    def members(self, person: Any) -> list[int]:
        """Who may be a person, by what is known of them."""
        return np.flatnonzero(self.fits[person]).tolist()

    def histories(self, columns: tuple[str, ...]) -> list[History]:
        """What some columns show of each."""
        if columns not in self._histories:
            places = [self.shown.index(name) for name in columns]
            self._histories[columns] = [_history(each, places) for each in self.rows]
        return self._histories[columns]

    def counts(self, columns: tuple[str, ...]) -> Counter[History]:
        """How many show each of these."""
        if columns not in self._counts:
            self._counts[columns] = Counter(self.histories(columns))
        return self._counts[columns]

    def records_of(self, other: Read) -> int:
        """Records of the sampled persons who are in another file, too."""
        both = zip(self.ids, other.ids, strict=True)
        return sum(len(self.truth[own]) for own, theirs in both if None not in (own, theirs))

    def true_history(self, person: Any) -> History:
        """What the file shows of a person."""
        own = self.truth[person][self.shown].astype(str)
        return _history([tuple(row) for row in own.to_numpy()], range(len(self.shown)))


def _history(rows: Sequence[tuple[str, ...]], places: Sequence[int]) -> History:
    return tuple(sorted(Counter(tuple(row[at] for at in places) for row in rows).items()))


def _holds(cell: str, value: Any) -> bool:
    if cell in {"*", str(value)}:
        return True
    ends = re.fullmatch(r"(-?[\d.]+)(?:-| to )(-?[\d.]+)", cell)
    if not isinstance(value, str):
        if ends is not None:
            return float(ends[1]) <= float(value) <= float(ends[2])
        return bool(re.fullmatch(r"-?[\d.]+", cell)) and float(cell) == float(value)
    members = re.findall(r'"[^"]*"|[^,]+', cell.strip("{}"))
    return value in {each.strip().strip('"') for each in members}


def likely(one: Read, other: Read, mine: Sequence[int], theirs: Sequence[int]) -> dict[int, float]:
    """Those of one file who may be among some of another, and how likely each is.

    By the columns that both show. Whoever has the same records in both shows the same history; of a
    file that has grown, or where records stand alone, a part of it does.
    """
    columns = tuple(name for name in one.shown if name in other.shown)
    if not columns:
        return dict.fromkeys(mine, 1.0)
    own, beside = one.histories(columns), other.histories(columns)
    there = Counter(beside[each] for each in theirs)
    every = other.counts(columns)
    parts = not (one.whole and other.whole) or one.records_of(other) != other.records_of(one)
    showing = dict[tuple[str, ...], list[History]]()
    for history in there if parts else ():
        for row, _ in history:
            showing.setdefault(row, []).append(history)
    found = {}
    for member in mine:
        if own[member] in there:
            found[member] = there[own[member]] / every[own[member]]
        elif any(
            _is_part(own[member], each) or _is_part(each, own[member])
            for row, _ in own[member]
            for each in showing.get(row, ())
        ):
            found[member] = 1e-6
    return found


def _is_part(less: History, more: History) -> bool:
    counts = dict(more)
    return all(counts.get(row, 0) >= number for row, number in less)


def attacked(files: Sequence[HandedOver]) -> list[dict[str, float]]:
    """Of each file the share of sampled persons found, and that of those left with too few."""
    first = files[0].wanted.data["person"].unique()
    sample = np.random.default_rng(1).permutation(first)[:SAMPLE].tolist()
    read = [Read(each, sample) for each in files]
    results = []
    for one in read:
        hits, broken, persons = 0.0, 0, 0
        for place, person in enumerate(one.ids):
            if person is None:
                continue
            persons += 1
            mine = one.members(person)
            odds = dict.fromkeys(mine, 1.0)
            for other in read:
                theirs = other.ids[place]
                if other is not one and theirs is not None:
                    also = likely(one, other, list(odds), other.members(theirs))
                    odds = {each: odds[each] * also[each] for each in odds if each in also}
            best = max(odds.values(), default=0.0)
            likeliest = [each for each, odd in odds.items() if odd >= best * (1 - 1e-9)]
            truth, own = one.true_history(person), one.histories(tuple(one.shown))
            right = [each for each in likeliest if own[each] == truth]
            hits += bool(right) / max(len(likeliest), 1)
            broken += bool(odds) and bool(right) and _breaks(one, odds)
        results.append({"found": hits / max(persons, 1), "broken": broken / max(persons, 1)})
    return results


def _balance(sizes: np.ndarray[Any, Any], odds: np.ndarray[Any, Any]) -> float:
    """g of a class in which so many persons, parts of one each, have so many records."""
    return 1 - float(odds @ sizes**2) / float(odds @ sizes) ** 2


def _breaks(file: Read, left: dict[int, float]) -> bool:
    """Whether those who are left for a person, weighed by their odds, break a promise."""
    if not file.whole:
        return False  # nobody sees whose records they are
    odds = np.array(list(left.values()))
    sizes = np.array([len(file.rows[each]) for each in left], dtype=float)
    values = [Counter[str]() for _ in file.shown]
    for each, odd in left.items():
        for at, own in enumerate(values):
            for value in {row[at] for row in file.rows[each]}:
                own[value] += odd  # type: ignore[assignment]
    for promise in file.wanted.promises:
        if promise.name == "pid_k" and len(left) < promise.k:
            return True
        if promise.name == "g_balance" and _balance(sizes, odds) < promise.g - NEAR:
            return True
        if promise.name == "h_affiliation" and any(
            max(each.values()) > promise.h * odds.sum() + NEAR for each in values
        ):
            return True
        if promise.name == "l" and any(len(each) < promise.l for each in values):
            return True
    return False


TERMS = {"all promises": Terms(tolerable=TOLERABLE), "share found": Terms(TOLERABLE, unkept=1)}
"""What the ledger holds releases to: their promises about classes as well, or the share found."""


def main() -> None:
    """Make the series that are left; print what became of all of them."""
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "release_series.jsonl")
    lines = place.read_text(encoding="utf-8").splitlines() if place.exists() else []
    done = {(each["series"], each["terms"]): each for each in map(json.loads, lines)}
    for name, wanted in all_series().items():
        for held, terms in TERMS.items():
            if (name, held) in done:
                continue
            begun, series = time.process_time(), wanted()
            with tempfile.TemporaryDirectory() as folder:
                files, said = through(series, Path(folder), terms)
                seconds = time.process_time() - begun
                found = attacked(files) if files else []
            result = {"series": name, "terms": held, "asked": len(series), "said": said,
                      "reader": found, "seconds": seconds}  # fmt: skip
            done[name, held] = result
            with place.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(result) + "\n")
    print("series | held to | released | as proposed | lost | found | broken | CPU s")
    for (name, held), each in done.items():
        there = [one for one in each["said"] if one is not None]
        proposed = sum(bool(one["with"]) for one in there)
        lost = max((one["lost"] for one in there), default=0.0)
        worst = [max((one[what] for one in each["reader"]), default=0.0)
                 for what in ("found", "broken")]  # fmt: skip
        print(
            f"{name} | {held} | {len(there)} of {each['asked']} | {proposed} | {lost:.1%} | "
            f"{worst[0]:.1%} | {worst[1]:.1%} | {each['seconds']:.0f}"
        )


if __name__ == "__main__":
    main()
