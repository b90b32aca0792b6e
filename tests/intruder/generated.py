"""Random persons, schemas and promises, for releases that are attacked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.release.anonymize import anonymize
from sfumato.release.promises.g_balance import GBalance
from sfumato.release.promises.h_affiliation import HAffiliation
from sfumato.release.promises.k_anonymity import KAnonymity, PidKAnonymity
from sfumato.release.promises.l_diversity import LDiversity
from sfumato.release.promises.marketer_risk import MarketerRisk
from sfumato.release.release_result import Release
from sfumato.schema import Schema

AREAS = ("4001", "4051", "4102", "4123", "5000", "5033")
FORMS = ("range", "range", "bounds", "set", "hierarchy")


@dataclass(frozen=True)
class Case:
    """A file, what its columns are, and how it is released."""

    data: pa.Table
    schema: Schema
    promises: tuple[Any, ...]
    options: dict[str, Any]

    def release(self, seed: int) -> Release:
        """The release."""
        return anonymize(self.data, self.schema, *self.promises, seed=seed, **self.options)


def persons(rng: np.random.Generator, number: int, *, several: bool, missing: float) -> pa.Table:
    """Visits of persons whose age may change a little from one to the next, in random order."""
    visits = rng.integers(1, 6, number) if several else np.ones(number, dtype=np.int64)
    who = np.repeat(np.arange(number), visits)
    rows = len(who)
    age = rng.integers(18, 90, number)[who] + (rng.integers(0, 2, rows) if several else 0)
    sex = rng.choice(["F", "M"], number)[who]
    area = rng.choice(AREAS, number, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])[who]
    school = rng.choice(["primary", "secondary", "bachelor", "master"], number)[who]
    illness = rng.choice(["flu", "asthma", "gout", "cancer"], rows, p=[0.5, 0.25, 0.15, 0.1])
    table = pa.table(
        {
            "patient": pa.array([f"P{each}" for each in who]),
            "name": pa.array([f"name {each}" for each in who]),
            "age": pa.array(age, mask=rng.random(rows) < missing),
            "sex": pa.array(sex),
            "area": pa.array(area),
            "school": pa.array(school, mask=rng.random(rows) < missing),
            "illness": pa.array(illness),
        }
    )
    return table.take(pa.array(rng.permutation(rows)))


def schema_of(*, several: bool, ordered: bool = True) -> Schema:
    """What the columns of `persons` are."""
    school: dict[str, Any] = {"kind": "categorical", "hierarchy": {"lengths": [1]}}
    if ordered:
        order = ("primary", "secondary", "bachelor", "master")
        school = {"kind": "ordered", "order": order}
    return Schema(
        person="patient" if several else None,
        quasi_identifiers={
            "age": {"kind": "numeric", "hierarchy": {"widths": [5, 10, 50]}},
            "sex": {"kind": "categorical", "hierarchy": {"lengths": []}},
            "area": {"kind": "categorical", "hierarchy": {"lengths": [3, 2]}},
            "school": school,
        },
        sensitive=("illness",),
        direct_identifiers=("name",) if several else ("name", "patient"),
    )


def drawn(rng: np.random.Generator) -> Case:
    """A random file and a random way to release it."""
    several = bool(rng.random() < 0.6)
    full_domain = bool(rng.random() < 0.15)
    data = persons(
        rng, int(rng.integers(30, 70)), several=several, missing=float(rng.choice([0, 0.05]))
    )
    k = int(rng.integers(2, 7))
    one = (
        GBalance(float(rng.choice([0.5, 0.7, 0.85]))),
        KAnonymity(k),
        PidKAnonymity(k),
        HAffiliation(0.85),
        LDiversity(2),
        MarketerRisk(float(rng.choice([0.1, 0.2, 0.3]))),
    )
    chosen = rng.choice(len(one), size=int(rng.integers(1, 3)), replace=False)
    options: dict[str, Any] = {"suppress": float(rng.choice([0.0, 0.05]))}
    if full_domain:
        options["recoding"] = "full-domain"
    else:
        options["values"] = str(rng.choice(FORMS))
        options["cut"] = "search" if rng.random() < 0.01 else "median"
    if several and rng.random() < 0.2:
        options["cap_records"] = 3
    schema = schema_of(several=several, ordered=not full_domain)
    return Case(data, schema, tuple(one[each] for each in chosen), options)
