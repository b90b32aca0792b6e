"""The table that is measured: visits of made-up patients, drawn quickly at any size."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.schema import Schema

SEED = 2020
EDUCATION = ("Primary", "Secondary", "Vocational", "Bachelor", "Master", "Doctorate")
QUASI_IDENTIFIERS = ("age", "zip", "income", "education", "sex")
SCHEMA = Schema(
    person="patient",
    quasi_identifiers={
        "age": {"kind": "numeric"},
        "zip": {"kind": "numeric"},
        "income": {"kind": "numeric"},
        "education": {"kind": "ordered", "order": EDUCATION},
        "sex": {"kind": "categorical"},
    },
    sensitive=["icd9"],
)


def visits(
    records: int, diagnoses: int = 300, columns: int = 5, *, seed: int = SEED, first: int = 0
) -> tuple[pa.Table, Schema]:
    """So many visits in random order, and what their columns are.

    A patient has four visits on average, geometrically distributed. Age grows by up to three
    years between visits; ZIPs (800) and diagnoses are drawn with weights 1, 1/2, 1/3, ...;
    incomes take 100,000 values.

    Parameters
    ----------
    records
        Number of records.
    diagnoses
        Number of different diagnoses.
    columns
        Number of quasi-identifiers; the five, and then further numbers of 1,000 values.
    seed
        What they are drawn with.
    first
        Number of the first patient, so that parts of a file have different ones.
    """
    rng = np.random.default_rng(seed)
    counts = np.minimum(rng.geometric(0.25, records // 3 + 10), 500)
    owner = np.repeat(np.arange(len(counts)), counts)[:records]
    person = rng.permutation(owner)
    persons = int(owner[-1]) + 1

    def steady(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return values.take(person)

    data = {
        "patient": _texts([f"P{first + number:08d}" for number in range(persons)], person),
        "age": steady(rng.integers(0, 95, persons)) + rng.integers(0, 4, records),
        "zip": 1000 + steady(_weighted(rng, 800, persons)),
        "income": steady(rng.integers(0, 100_000, persons)),
        "education": _texts(EDUCATION, steady(rng.integers(0, len(EDUCATION), persons))),
        "sex": _texts(("F", "M"), steady(rng.integers(0, 2, persons))),
    }
    kinds = {name: SCHEMA.quasi_identifiers[name] for name in QUASI_IDENTIFIERS[:columns]}
    for more in range(len(kinds), columns):
        data[f"number_{more}"] = steady(rng.integers(0, 1000, persons))
        kinds[f"number_{more}"] = SCHEMA.quasi_identifiers["age"]
    names = [f"D{number:05d}" for number in range(diagnoses)]
    data["icd9"] = _texts(names, _weighted(rng, diagnoses, records))
    others = [name for name in QUASI_IDENTIFIERS if name not in kinds]
    return pa.table(data), Schema(
        person="patient", quasi_identifiers=kinds, sensitive=["icd9"], insensitive=others
    )


def _weighted(rng: np.random.Generator, size: int, count: int) -> npt.NDArray[np.int64]:
    weights = np.cumsum(1 / np.arange(1, size + 1))
    found: npt.NDArray[np.int64] = np.searchsorted(weights, rng.random(count) * weights[-1])
    return found


def _texts(names: list[str] | tuple[str, ...], codes: npt.NDArray[np.int64]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), list(names)).cast(pa.string())
