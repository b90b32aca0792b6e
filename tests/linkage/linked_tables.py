"""Small tables of persons and households with errors, for tests of linkage."""

import numpy as np
import pyarrow as pa

_GIVEN = "Anna Ben Carla David Emma Felix Greta Henry Ida Jonas Klara Leo Maria Noah Olga Paul"
_FAMILY = (
    "Smith Jones Taylor Brown Wilson Evans Thomas Johnson Roberts Walker Wright Robinson "
    "Thompson White Hughes Edwards Green Hall Wood Harris Lewis Martin Jackson Clark Turner"
)
GIVEN, FAMILY = _GIVEN.split(), _FAMILY.split()
DATES = {"dob", "birth_date"}


def people(count, seed=0):
    """Persons as columns of text."""
    rng = np.random.default_rng(seed)
    days = np.datetime64("1930-01-01") + rng.integers(0, 29_000, count)
    return {
        "given_name": rng.choice(GIVEN, count).astype(object),
        "surname": rng.choice(FAMILY, count).astype(object),
        "dob": days.astype(str).astype(object),
        "postcode": rng.integers(1000, 1400, count).astype(str).astype(object),
        "phone": rng.integers(10**8, 10**9, count).astype(str).astype(object),
    }


def with_errors(columns, seed=1, share=0.1):
    """The same persons, some values missing or with a letter less."""
    rng = np.random.default_rng(seed)
    worse = {}
    for name, values in columns.items():
        worse[name] = values.copy()
        chance = rng.random(len(values))
        for i in np.flatnonzero(chance < share):
            worse[name][i] = values[i] if name in DATES else values[i][:2] + values[i][3:]
        worse[name][chance > 1 - share / 3] = None
    return worse


def two_clinics(count=400, shared=300, seed=0):
    """Two tables with persons in common; record i of one is record i of the other below shared."""
    one = people(count, seed)
    other = people(count, seed + 100)
    again = with_errors(one, seed + 1)
    two = {name: np.where(np.arange(count) < shared, again[name], other[name]) for name in one}
    ids = np.arange(count)
    return (
        pa.table({"id": [f"a{i}" for i in ids], **one, "diagnosis": [f"secret{i}" for i in ids]}),
        pa.table({"id": [f"b{i}" for i in ids], **two, "cost": ids * 1.5}),
    )


def households(count=250, shared=1.0, seed=0):
    """Two tables of households, a share of them in both, and the household's member of each record.

    One to six members share surname, address and telephone; parents are 20 to 35 years older than
    their children, and no two have one given name. The second table has errors in all columns.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 3, 4, 5, 6], count, p=[0.15, 0.25, 0.2, 0.2, 0.12, 0.08])
    of = np.repeat(np.arange(count), sizes)
    place = np.concatenate([np.arange(size) for size in sizes])
    given = np.concatenate([rng.choice(GIVEN, size, replace=False) for size in sizes])
    years = rng.integers(1940, 1975, count)[of] + np.where(
        place < 2, rng.integers(0, 6, len(of)), rng.integers(20, 35, len(of))
    )
    days = np.array([f"{year}-01-01" for year in years], "M8[D]") + rng.integers(0, 365, len(of))
    streets = rng.integers(0, max(3, count // 10), count)[of]
    house = {
        "surname": rng.choice(FAMILY, count)[of],
        "street": np.array([f"{FAMILY[s % 25]} {GIVEN[s // 25 % 16]} street" for s in streets]),
        "house_number": rng.integers(1, 150, count)[of].astype(str),
        "postcode": (1000 + streets).astype(str),
        "phone": rng.integers(10**8, 10**9, count)[of].astype(str),
    }
    columns = {"given_name": given, "birth_date": days.astype(str), **house}
    columns = {name: values.astype(object) for name, values in columns.items()}
    again = with_errors(columns, seed + 1, share=0.06)
    part = rng.random(count)[of]
    first, second = part < (1 + shared) / 2, (part < shared) | (part >= (1 + shared) / 2)
    shuffled = rng.permutation(np.flatnonzero(second))
    tables = {
        "census": pa.table({name: values[first] for name, values in columns.items()}),
        "register": pa.table({name: values[shuffled] for name, values in again.items()}),
    }
    return tables, np.concatenate([np.flatnonzero(first), shuffled])
