"""Databases for tests: people, their stays, what was found in them; with the truth about keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HEADERS: dict[str, dict[str, str]] = {
    "en": dict.fromkeys(()),  # as written below
    "de": {
        "patients": "patienten", "patient": "patnr", "birth_year": "geburtsjahr",
        "sex": "geschlecht", "zip": "plz", "admissions": "aufenthalte", "admission": "fallnr",
        "admitted": "aufnahmedatum", "ward": "station", "diagnoses": "diagnosen", "icd": "icd",
        "labs": "labor", "test": "testart", "value": "wert", "taken": "datum", "wards": "stationen",
        "floor": "stock", "family_name": "nachname",
    },
    "fr": {
        "patients": "patients", "patient": "id_patient", "birth_year": "annee_naissance",
        "sex": "sexe", "zip": "code_postal", "admissions": "sejours", "admission": "id_sejour",
        "admitted": "date_entree", "ward": "service", "diagnoses": "diagnostics", "icd": "cim",
        "labs": "analyses", "test": "examen", "value": "resultat", "taken": "date_examen",
        "wards": "services", "floor": "etage", "family_name": "nom",
    },
    "es": {
        "patients": "pacientes", "patient": "paciente_id", "birth_year": "anio_nacimiento",
        "sex": "sexo", "zip": "codigo_postal", "admissions": "ingresos", "admission": "ingreso_id",
        "admitted": "fecha_ingreso", "ward": "servicio", "diagnoses": "diagnosticos", "icd": "cie",
        "labs": "laboratorio", "test": "prueba", "value": "valor", "taken": "fecha",
        "wards": "servicios", "floor": "planta", "family_name": "apellido",
    },
}  # fmt: skip
"""By language the headers that differ from the English ones."""
STYLES = ("counted", "uuid", "prefixed")
"""How keys look: numbers from 0 on, random, or counted up behind a letter."""


@dataclass(frozen=True)
class Made:
    """A database, and the truth about it.

    Attributes
    ----------
    references
        By table and column, the table whose key it refers to.
    """

    frames: dict[str, pd.DataFrame]
    keys: dict[str, str]
    references: dict[tuple[str, str], str]
    persons: str

    def write(self, folder: Path) -> Path:
        """Write a file per table."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, frame in self.frames.items():
            frame.to_csv(folder / f"{name}.csv", index=False)
        return folder


def _keys(style: str, letter: str, count: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    if style == "counted":
        return np.arange(count)
    if style == "prefixed":
        return np.array([f"{letter}{1000 + n}" for n in range(count)])
    return np.array([rng.bytes(16).hex() for _ in range(count)])


def made_database(
    seed: int,
    *,
    people: int = 400,
    language: str = "en",
    style: str = "counted",
    orphans: int = 0,
    empty: float = 0.0,
    two_paths: bool = False,
    wards: bool = True,
) -> Made:
    """Draw a database.

    Parameters
    ----------
    orphans
        Stays of a person who is not there.
    empty
        Share of the tests that were taken outside of a stay; they name the person then.
    two_paths
        Whether a diagnosis names the person beside the stay.
    wards
        Whether a table says what the code of a ward means.
    """
    rng = np.random.default_rng(seed)
    said = HEADERS[language]

    def call(name: str) -> str:
        return said.get(name, name)

    ids = _keys(style, "P", people, rng)
    birth = rng.integers(1930, 2010, people)
    patients = pd.DataFrame({
        "patient": ids, "family_name": [f"N{rng.integers(10**9)}" for _ in range(people)],
        "birth_year": birth, "sex": rng.choice(["f", "m"], people),
        "zip": rng.choice([f"{n:05d}" for n in range(10115, 10135)], people),
    })  # fmt: skip
    number = rng.poisson(1.8, people)
    owner = np.repeat(np.arange(people), number)
    stays = len(owner)
    codes = np.array([f"W{n}" for n in range(1, 9)])
    stay = _keys(style, "A", stays, rng)
    admissions = pd.DataFrame({
        "admission": stay, "patient": ids[owner],
        "admitted": np.datetime64("2019-01-01") + rng.integers(0, 900, stays),
        "ward": rng.choice(codes, stays, p=_falling(8)),
        "sex": patients["sex"].to_numpy()[owner],
    })  # fmt: skip
    if orphans:
        gone = _keys(style, "P", people + orphans, np.random.default_rng(seed + 1))[-orphans:]
        admissions.loc[: orphans - 1, "patient"] = gone
    within = np.repeat(np.arange(stays), 1 + rng.poisson(0.8, stays))
    chapters = [f"{letter}{n:02d}.{d}" for letter in "EIJMN" for n in (10, 11, 20) for d in (0, 1)]
    diagnoses = pd.DataFrame({
        "admission": stay[within], "icd": rng.choice(chapters, len(within), p=_falling(30)),
    })  # fmt: skip
    if two_paths:
        diagnoses.insert(0, "patient", admissions["patient"].to_numpy()[within])
    tested = np.repeat(np.arange(stays), rng.poisson(1.2, stays))
    labs = pd.DataFrame({
        "patient": admissions["patient"].to_numpy()[tested], "admission": stay[tested],
        "test": rng.choice(["HB", "CRP", "NAT", "K", "GLU", "TSH"], len(tested), p=_falling(6)),
        "value": rng.normal(10, 3, len(tested)).round(2),
        "taken": admissions["admitted"].to_numpy()[tested]
        + pd.to_timedelta(rng.integers(0, 5, len(tested)), "D"),
    })  # fmt: skip
    labs["admission"] = labs["admission"].astype(object)
    labs.loc[rng.random(len(labs)) < empty, "admission"] = None
    frames = {
        "patients": patients, "admissions": admissions, "diagnoses": diagnoses, "labs": labs,
    }  # fmt: skip
    keys = {"patients": "patient", "admissions": "admission"}
    references = {
        ("admissions", "patient"): "patients", ("diagnoses", "admission"): "admissions",
        ("labs", "patient"): "patients", ("labs", "admission"): "admissions",
    }  # fmt: skip
    if two_paths:
        references["diagnoses", "patient"] = "patients"
    if wards:
        frames["wards"] = pd.DataFrame(
            {"ward": codes, "floor": np.arange(8) % 3 + 1, "area": [*"ABCDEFGH"]}
        )
        keys["wards"] = "ward"
        references["admissions", "ward"] = "wards"
    return Made(
        {
            call(n): f.rename(columns=call).sample(frac=1, random_state=seed)
            for n, f in frames.items()
        },
        {call(name): call(key) for name, key in keys.items()},
        {(call(t), call(c)): call(to) for (t, c), to in references.items()},
        call("patients"),
    )


def _falling(count: int) -> np.ndarray[Any, Any]:
    """Shares that fall as those of diagnoses do."""
    shares = 1 / np.arange(1, count + 1)
    return shares / shares.sum()


TWELVE: tuple[dict[str, Any], ...] = tuple(
    {
        "seed": 100 + number,
        "language": ("en", "de", "fr", "es")[number % 4],
        "style": STYLES[number % 3],
        "people": 150 + 60 * number,
        "two_paths": number % 2 == 1,
        "empty": 0.2 * (number % 3),
        "wards": number % 4 != 2,
    }
    for number in range(12)
)
"""Twelve databases that differ in language, keys, size and shape."""
