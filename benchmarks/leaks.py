"""Columns that give people away, and honest ones: which are caught, by the release and the attack.

Usage: leaks.py [FILES] [--persons N]    (40 of either kind, of 400 to 1,500, unless stated)

The kinds of `KNOWN` were there when the measures were made; those of `OTHERS` were written after
them and are never adjusted to. What is looked for in the way that values are written was made after
`WRITTEN` and `PAIRS`; `LATER` came after that. Half of the files have several records per person.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd

import sfumato as sf

QUASI = {"age": "numeric", "income": "numeric", "place": "categorical", "sex": "categorical"}
ONES = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
TENS = ("", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC")


class People:
    """Records of some persons, with what is drawn once for each."""

    def __init__(self, seed: int, persons: int | None = None) -> None:
        self.rng = rng = np.random.default_rng(seed)
        drawn = int(rng.integers(400, 1500))
        self.persons = n = persons or drawn
        self.repeated = seed % 2 == 0
        self.of = np.repeat(np.arange(n), rng.poisson(2, n) + 1 if self.repeated else 1)
        self.age = np.clip(rng.normal(50, 18, n), 18, 95).astype(int)
        self.income = np.exp(rng.normal(10, 0.6, n)).astype(int)
        self.place = rng.choice(
            rng.integers(10000, 99999, min(150, (persons or drawn + 50) // 3)), n
        )
        self.sex = rng.choice(["M", "F"], n)
        self.ids = np.array([f"P{each:06d}" for each in rng.permutation(n)])

    def data(self) -> pd.DataFrame:
        """The records, without any further column."""
        columns = {name: getattr(self, name)[self.of] for name in QUASI}
        icd = self.rng.choice(ICD, len(self.of))
        return pd.DataFrame({"id": self.ids[self.of], **columns, "icd": icd})

    def schema(self, data: pd.DataFrame, accepted: tuple[str, ...] = ()) -> sf.Schema:
        """All columns that are not of `data` are insensitive."""
        roles = {"id", "icd", *QUASI}
        return sf.Schema(
            person="id" if self.repeated else None,
            direct_identifiers=[] if self.repeated else ["id"],
            quasi_identifiers=QUASI,
            sensitive=["icd"],
            insensitive=[name for name in data if name not in roles],
            accepted=dict.fromkeys(accepted, "to be attacked"),
        )


Kind = Callable[[People], object]
KNOWN: dict[str, Kind] = {
    "2026 - age": lambda p: 2026 - p.age,
    "income within 1 %": lambda p: p.income * p.rng.uniform(0.99, 1.01, p.persons),
    "postcode x 7 + 13": lambda p: p.place * 7 + 13,
    "pt aged 57 seen": lambda p: [f"pt aged {each} seen" for each in p.age],
    "id without its first letter": lambda p: [each[1:] for each in p.ids],
    "SHA-256 of the id": lambda p: [hashlib.sha256(each.encode()).hexdigest() for each in p.ids],
    "time stamp of the person": lambda p: (
        np.datetime64("2024-01-01T00:00:00") + p.rng.integers(0, 10**8, p.persons)
    ),
    "house number": lambda p: p.rng.integers(1, 240, p.persons),
}
OTHERS: dict[str, Kind] = {
    "age in Roman numerals": lambda p: [TENS[each // 10] + ONES[each % 10] for each in p.age],
    "postcode backwards": lambda p: [f"{each}"[::-1] for each in p.place],
    "income in another currency, to 10": lambda p: (p.income * 0.86).round(-1),
    "8 digits of a salted MD5 of the id": lambda p: [
        hashlib.md5(f"salt{each}".encode()).hexdigest()[:8]  # noqa: S324
        for each in p.ids
    ],
    "initials and day of birth": lambda p: [
        f"{a}{b}{c:02d}"
        for a, b, c in zip(
            *p.rng.choice(list("ABCDEFGHJKLMNPRSTW"), (2, p.persons)),
            p.rng.integers(1, 32, p.persons),
            strict=True,
        )
    ],
    "age in hexadecimal": lambda p: [f"0x{each:02X}" for each in p.age],
    "years to the pension at 67": lambda p: np.maximum(67 - p.age, 0),
    "karyotype, one in 20 not written": lambda p: [
        "not done" if lost else f"karyotype 46,{'XY' if each == 'M' else 'XX'}"
        for each, lost in zip(p.sex, p.rng.random(p.persons) < 0.05, strict=True)
    ],
    "telephone extension": lambda p: p.rng.integers(1000, 9999, p.persons),
    "age and a number of the ward in one": lambda p: (
        p.age * 1000 + p.rng.integers(0, 1000, p.persons)
    ),
}
ICD = [f"{a}{b}" for a in "ABC" for b in range(10, 30)]
WARDS = ("cardio", "derma", "ortho")
SPELT = ("Ward ", "ward ", "WARD ", "Wd. ", "Wd ", "W. ", "W ", "w. ", "w ", "WD ")


def numbers(people: People) -> np.ndarray:
    """The number in each id."""
    return np.array([int(each[1:]) for each in people.ids])


def to_base(number: int, digits: str = "0123456789abcdefghijklmnopqrstuvwxyz") -> str:
    """A number with as many digits as there are signs."""
    whole, last = divmod(number, len(digits))
    return (to_base(whole, digits) if whole else "") + digits[last]


def amounts(people: People) -> np.ndarray:
    """Honest amounts of money."""
    return people.rng.gamma(2.0, 100.0, people.persons)


WRITTEN: dict[str, Kind] = {
    "id in float noise": lambda p: amounts(p).round(2) + numbers(p) * 1e-9,
    "age in trailing blanks": lambda p: [
        a + " " * (b // 10) for a, b in zip(p.rng.choice(WARDS, p.persons), p.age, strict=True)
    ],
    "sex in the case of letters": lambda p: [
        a.upper() if b == "M" else a
        for a, b in zip(p.rng.choice(WARDS, p.persons), p.sex, strict=True)
    ],
    "cents are the age": lambda p: np.floor(amounts(p)) + p.age / 100,
    "missing where a woman": lambda p: [
        None if a == "F" else f"{b}"
        for a, b in zip(p.sex, p.rng.integers(1, 9, p.persons), strict=True)
    ],
    "spelling of a ward by decade of age": lambda p: [
        SPELT[a // 10] + b for a, b in zip(p.age, p.rng.choice(list("ABC"), p.persons), strict=True)
    ],
    "seconds of a time are the age": lambda p: (
        np.datetime64("2024-03-01T00:00:00")
        + p.rng.integers(0, 43_200, p.persons) * 60
        + p.age % 60
    ),
    "a queue in the order of income": lambda p: np.argsort(np.argsort(p.income)) // 3 + 1000,
    "4 digits of a peppered SHA-1 of the id": lambda p: [
        hashlib.sha1(f"pepper{each}".encode()).hexdigest()[:4]  # noqa: S324
        for each in p.ids
    ],
    "id in base 36": lambda p: [to_base(int(each) * 7919 + 46_656) for each in numbers(p)],
    "decimals by sex": lambda p: [
        f"{a:.2f}" if b == "M" else f"{a:.1f}" for a, b in zip(amounts(p), p.sex, strict=True)
    ],
    "as many words as decades": lambda p: [
        " ".join(p.rng.choice(["seen", "well", "rested"], each // 10 + 1)) for each in p.age
    ],
    "no-break space by sex": lambda p: [
        f"room\u00a0{a}" if b == "M" else f"room {a}"
        for a, b in zip(p.rng.integers(1, 30, p.persons), p.sex, strict=True)
    ],
}
PAIRS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "one column and its exclusive or with the age": lambda a, b: a ^ b,
    "one column and what makes the age with it": lambda a, b: b - a,
}
MORSE = ("-----", ".----", "..---", "...--", "....-", ".....", "-....", "--...", "---..", "----.")
LATER: dict[str, Kind] = {
    "age in tally marks": lambda p: ["|" * each for each in p.age],
    "age in Morse code": lambda p: [" ".join(MORSE[int(a)] for a in str(each)) for each in p.age],
    "age in a colour": lambda p: [
        f"#{a:02x}{b:04x}" for a, b in zip(p.age, p.rng.integers(0, 65_536, p.persons), strict=True)
    ],
    "bar code of the postcode": lambda p: p.place * 10 + (p.place % 97) % 10,
    "coordinates of the postcode, jittered": lambda p: (
        47 + p.place / 1e4 + p.rng.normal(0, 2e-6, p.persons)
    ).round(7),
    "serial number of the day of birth": lambda p: (
        (2026 - p.age - 1900) * 365 + p.rng.integers(0, 365, p.persons)
    ),
    "income in thousands": lambda p: [f"{each // 1000}k" for each in p.income],
    "full stop by sex": lambda p: [
        f"{a} days" + ("." if b == "F" else "")
        for a, b in zip(p.rng.integers(1, 40, p.persons), p.sex, strict=True)
    ],
    "week of birth": lambda p: [
        f"{2026 - a}-W{b:02d}" for a, b in zip(p.age, p.rng.integers(1, 53, p.persons), strict=True)
    ],
    "age as the second of three numbers": lambda p: [
        f"{a};{b};{c}"
        for a, b, c in zip(
            p.rng.integers(1, 9, p.persons), p.age, p.rng.integers(100, 999, p.persons), strict=True
        )
    ],
}
HONEST: dict[str, Callable[[np.random.Generator, int], object]] = {
    "charge": lambda rng, m: rng.gamma(2.0, 100.0, m).round(2),
    "department": lambda rng, m: rng.choice(list("uvwx"), m),
    "days": lambda rng, m: rng.integers(1, 40, m),
    "weekday": lambda rng, m: rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri"], m),
    "dose": lambda rng, m: [f"{each} mg" for each in rng.choice([5, 10, 20, 40, 80], m)],
    "remark": lambda rng, m: [f"room {each}, nothing else" for each in rng.integers(1, 30, m)],
    "visit": lambda rng, m: np.datetime64("2024-01-01") + rng.integers(0, 60, m),
    "grade": lambda rng, m: rng.integers(1, 5, m),
}


def warned(release: sf.Release, attacks: list[str]) -> tuple[set[str], bool]:
    """The columns that the attack names, and whether it says anything else."""
    found = sf.attack(release, seed=1, attacks=attacks)
    named = [each for each in found.warnings if each.startswith("Column '")]
    return {each.split("'")[1] for each in named}, len(named) < len(found.warnings) or bool(
        found.broken
    )


def leaking(seed: int, persons: int | None, caught: Counter[tuple[str, str]]) -> None:
    """One file with all kinds of leaks, and one for each pair."""
    people = People(seed, persons)
    data = people.data()
    kinds = KNOWN | OTHERS | WRITTEN | LATER
    for name, values in kinds.items():
        data[name] = np.asarray(values(people))[people.of]
    try:
        sf.anonymize(data, people.schema(data), sf.PidKAnonymity(5), seed=1)
    except sf.InputError as refused:
        caught.update(("release", name) for name in kinds if f"'{name}'" in str(refused))
    release = sf.anonymize(data, people.schema(data, tuple(kinds)), sf.PidKAnonymity(5), seed=1)
    caught.update(("attack", name) for name in warned(release, ["columns"])[0])
    for name, other in PAIRS.items():
        data, one = people.data(), people.rng.integers(0, 128, people.persons)
        data["one"], data["other"] = one[people.of], other(one, people.age)[people.of]
        try:
            sf.anonymize(data, people.schema(data), sf.PidKAnonymity(5), seed=1, effort=0)
        except sf.InputError:
            caught["release", name] += 1
        accepted = people.schema(data, ("one", "other"))
        release = sf.anonymize(data, accepted, sf.PidKAnonymity(5), seed=1, effort=0)
        found = sf.attack(release, seed=1, attacks=["columns", "combinations"])
        caught["attack", name] += any("together" in each or "'o" in each for each in found.warnings)
    data = people.data().sort_values("income")
    release = sf.anonymize(
        data, people.schema(data), sf.PidKAnonymity(5), seed=1, keep_order=True, effort=0
    )
    told = any(each.startswith("the order of the rows") for each in release.warnings)
    caught["release", "rows sorted by income"] += told
    caught["attack", "rows sorted by income"] += (
        sf.attack(release, seed=1, attacks=["row_order"]).broken != ()
    )


def honest(seed: int, persons: int | None, alarms: Counter[str]) -> None:
    """One file with honest columns only."""
    people = People(seed, persons)
    data = people.data()
    for name, values in HONEST.items():
        data[name] = values(people.rng, len(data))
    try:
        release = sf.anonymize(data, people.schema(data), sf.PidKAnonymity(5), seed=1)
    except sf.InputError as refused:
        alarms[f"release: {refused}"] += 1
        return
    named, other = warned(release, ["columns", "row_order", "singling_out", "exact"])
    alarms.update(f"attack: {name}" for name in named)
    alarms["attack: another warning"] += other


def main() -> int:
    """Print a table of what was caught, then the false alarms; 1 where the gate is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", type=int, nargs="?", default=40)
    parser.add_argument("--persons", type=int)
    given = parser.parse_args()
    files = given.files
    caught: Counter[tuple[str, str]] = Counter()
    alarms: Counter[str] = Counter()
    for seed in range(files):
        leaking(seed, given.persons, caught)
        honest(10_000 + seed, given.persons, alarms)
    print(f"{'kind':36} release attack   of {files}")
    every = [*KNOWN, "rows sorted by income", *OTHERS, *WRITTEN, *PAIRS, *LATER]
    for name in every:
        print(f"{name:36} {caught['release', name]:7} {caught['attack', name]:6}")
    shares = [max(caught["release", name], caught["attack", name]) / files for name in every]
    print(f"caught: {np.mean(shares):.1%}; alarms in {files} honest files: {dict(+alarms)}")
    return int(np.mean(shares) < 0.9 or alarms.total() > 0.02 * files)


if __name__ == "__main__":
    sys.exit(main())
