"""A census, a payroll without dates of birth, a small cohort: households, movers, typing errors."""

import numpy as np
import pyarrow as pa

from sfumato.examples.demographics import FAMILY_NAMES, GIVEN_NAMES, zipf

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ENDS = ["", "s", "er", "man", "ton", "ley", "well"]
"""Make 3,200 surnames of 461: with fewer, more strangers have one name than in a town."""


def town(people, rng):
    """People in households, a twentieth of them in five large homes, as columns of text."""
    homes = people // 2
    home = np.sort(rng.integers(0, homes, people))
    large = rng.random(people) < 0.05
    home[large] = homes + rng.integers(0, 5, np.count_nonzero(large))
    sex, year = rng.integers(0, 2, people), rng.integers(1930, 2015, people)
    lists = [[np.array(part) for part in GIVEN_NAMES[each]] for each in (0, 1)]
    cohort = np.digitize(year, [1950, 1980])
    given = np.empty(people, dtype=object)
    for s in (0, 1):
        for c in (0, 1, 2):
            own, names = (sex == s) & (cohort == c), lists[s][c]
            given[own] = rng.choice(names, np.count_nonzero(own), p=zipf(len(names), 2.0))
    surnames = np.array([name + end for end in ENDS for name in FAMILY_NAMES], dtype=object)
    family = rng.choice(surnames, homes + 5, p=zipf(len(surnames), 5.0))[home]
    apart = large | (rng.random(people) < 0.15)
    family[apart] = rng.choice(surnames, np.count_nonzero(apart), p=zipf(len(surnames), 5.0))
    streets = np.array([f"{a} {b}" for a in FAMILY_NAMES[:30] for b in ("st", "ave", "rd", "ln")])
    day = np.array([f"{each}-01-01" for each in year], "M8[D]") + rng.integers(0, 365, people)
    return {
        "first_name": given,
        "middle_initial": rng.choice(list(LETTERS.upper()), people, p=zipf(26, 3.0)).astype(object),
        "last_name": family,
        "date_of_birth": day.astype(object),
        "sex": np.array(["Female", "Male"], dtype=object)[sex],
        "street_number": rng.integers(1, 9000, homes + 5).astype(str).astype(object)[home],
        "street_name": rng.choice(streets, homes + 5).astype(object)[home],
    }


def recorded(person, rows, rng, *, errors=0.02, moved=0.05, blank=0.02):
    """Records of some people: misspelt, elsewhere, with gaps."""
    made = {name: values[rows].copy() for name, values in person.items()}
    away = rng.random(len(rows)) < moved
    other = rng.integers(0, len(person["sex"]), np.count_nonzero(away))
    for name in ("street_number", "street_name"):
        made[name][away] = person[name][other]
    for name, values in made.items():
        for row in np.flatnonzero(rng.random(len(rows)) < errors) if "name" in name else ():
            text, at = values[row], int(rng.integers(len(values[row])))
            values[row] = text[:at] + rng.choice(list(LETTERS)) + text[at + 1 :]
        values[rng.random(len(rows)) < blank] = None
    return made


def table(columns):
    """The columns as Arrow text, dates as the census writes them."""
    return pa.table(
        {name: [None if v is None else str(v) for v in values] for name, values in columns.items()}
    )


def census_and_payroll(people=3000, seed=0):
    """Nobody has a date of birth; who has several jobs is in the payroll several times.

    Gives the tables, and the person of each record.
    """
    rng = np.random.default_rng(seed)
    person = town(people, rng)
    counted = np.flatnonzero(rng.random(people) < 0.95)
    paid = np.flatnonzero(rng.random(people) < 0.6)
    paid = rng.permutation(np.repeat(paid, 1 + rng.poisson(0.3, len(paid))))
    census, payroll = (recorded(person, rows, rng) for rows in (counted, paid))
    for each in (census, payroll):
        del each["date_of_birth"]
    del payroll["sex"]
    payroll = {f"employee_{name}" if "street" in name else name: v for name, v in payroll.items()}
    tables = {"census": table(census), "payroll": table(payroll)}
    return tables, np.concatenate([counted, paid])


def census_and_cohort(people=3000, cohort=100, seed=0):
    """A hundred children's benefits, dates of birth in eight digits with the month first."""
    rng = np.random.default_rng(seed)
    person = town(people, rng)
    counted = np.flatnonzero(rng.random(people) < 0.95)
    young = np.argsort(person["date_of_birth"])[-5 * cohort :]
    few = rng.choice(young, cohort, replace=False)
    census, benefit = (recorded(person, rows, rng) for rows in (counted, few))
    days = benefit["date_of_birth"]
    benefit["date_of_birth"] = np.array(
        [None if day is None else day.strftime("%m%d%Y") for day in days], dtype=object
    )
    return {"census": table(census), "benefit": table(benefit)}, np.concatenate([counted, few])


def two_files(people=600, share=0.7, seed=0, leave_out=(), **noise):
    """Two files, each with a share of the people once, and with all columns but some.

    Gives the tables, and the person of each record by its id.
    """
    rng = np.random.default_rng(seed)
    person = town(people, rng)
    tables, whose = {}, {}
    for name in "ab":
        rows = rng.permutation(np.flatnonzero(rng.random(people) < share))
        made = recorded(person, rows, rng, **noise)
        ids = [f"{name}{row}" for row in range(len(rows))]
        tables[name] = table({"id": ids, **{n: v for n, v in made.items() if n not in leave_out}})
        whose |= dict(zip(ids, rows.tolist(), strict=True))
    return tables, whose


def across(person, truth, first):
    """Precision and recall over the pairs of a record of the first table and one of the other."""

    def pairs(key):
        one, other = key[:first], key[first:]
        values, counts = np.unique(one, return_counts=True)
        place = np.searchsorted(values, other).clip(max=len(values) - 1)
        return int(counts[place][values[place] == other].sum())

    both = pairs(person.astype(np.int64) * (int(truth.max()) + 1) + truth)
    return both / max(pairs(person), 1), both / pairs(truth)
