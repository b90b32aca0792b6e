"""A small project of two made-up clinics, and the command line in this process."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sfumato.cli.app import main
from sfumato.examples import generate_clinics, generate_registrations, write_registrations

PROJECT = """\
[project]
name = "two clinics"
seed = 11

[sources.hospital]
file = "patients_hospital.csv"
id = "patient"
attach = "visits_hospital.csv"

[sources.practice]
file = "patients_practice.csv"
id = "patient"
attach = "visits_practice.csv"

[schema]
sensitive = ["icd9"]
direct_identifiers = ["given_name", "surname", "phone", "date_of_birth", "visit_date"]
insensitive = ["department", "charge"]

[schema.quasi_identifiers]
age = "numeric"
sex = "categorical"
zip = "numeric"
education = "categorical"

[link]
dedupe = true

[link.specification]
blocking = ["surname:2", "date_of_birth:year"]
thresholds = { lower = 0.001, upper = 0.9 }

[link.specification.columns]
given_name = "given name"
surname = "surname"
date_of_birth = "date"

[release]
g_balance = 0.8
h_affiliation = 0.6

[outputs]
report = "json"
"""
STAGES = ("link", "linked", "assess", "release", "report")


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def ran(self) -> list[str]:
        """The stages that a run with --json made."""
        return [each["stage"] for each in self.json["stages"] if each["ran"]]

    def states(self) -> dict[str, str]:
        return {each["stage"]: each["state"] for each in self.json["stages"]}


Call = Callable[..., Result]


def caller(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Call:
    """Runs a command line in this process, in a folder."""

    def call(*words: str | Path) -> Result:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "excepthook", sys.excepthook)
        monkeypatch.setattr(sys, "argv", ["sfumato", *map(str, words)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capfd.readouterr()
        code = end.value.code
        assert code is None or isinstance(code, int)
        return Result(code or 0, out, err)

    return call


def write_project(folder: Path, persons: int = 100, text: str = PROJECT) -> Path:
    """The clinics' tables and a project file."""
    write_registrations(generate_registrations(generate_clinics(persons, rng=3)), folder)
    file = folder / "sfumato.toml"
    file.write_text(text)
    return file


def change(folder: Path, old: str, new: str) -> None:
    """Change the project file."""
    file = folder / "sfumato.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def released(folder: Path) -> str:
    """The hash of the release."""
    return hashlib.sha256((folder / "output" / "release" / "release.csv").read_bytes()).hexdigest()
