"""Small tables of persons with errors, for tests of linkage."""

import numpy as np
import pyarrow as pa

_GIVEN = "Anna Ben Carla David Emma Felix Greta Henry Ida Jonas Klara Leo Maria Noah Olga Paul"
_FAMILY = (
    "Smith Jones Taylor Brown Wilson Evans Thomas Johnson Roberts Walker Wright Robinson "
    "Thompson White Hughes Edwards Green Hall Wood Harris Lewis Martin Jackson Clark Turner"
)
GIVEN, FAMILY = _GIVEN.split(), _FAMILY.split()


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
            worse[name][i] = values[i] if name == "dob" else values[i][:2] + values[i][3:]
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
