"""What a release depends on, written beside it, from which it can be repeated."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomlkit

from sfumato.core.atomic import write_text
from sfumato.core.declaration import Engine
from sfumato.core.errors import InputError
from sfumato.release.promises import restored
from sfumato.release.promises.promise import AboutPopulation, Budget, Constraint, Promise, is_added
from sfumato.release.release_options import Ends, Options
from sfumato.schema.recipe import StepCount

CHUNK = 1 << 20
HEADER = (
    "What repeats this release, with the original file and its secret, which stands elsewhere.\n"
    "It holds no value of the data. Keep it inside."
)


@dataclass(frozen=True)
class Manifest:
    """Everything that a release depends on.

    Attributes
    ----------
    constraints
        The promises that it keeps, and those that only an estimate keeps (`promised`).
    seed
        Seed of the search; what protects people comes from a secret that is not here.
    keyed
        Whether pseudonyms were made with a key; the key is kept nowhere.
    input_sha256, output_sha256
        Hashes of the files, where there are files.
    population
        Number of persons of the population, where that was given.
    register_sha256
        Hash of the register's file, where there is one.
    engine
        Where it was computed.
    preparation
        What the steps of the schema's recipe did to the columns of the file.
    tables
        Of a database, the number of records of each table before and after, and its dates that
        show nothing.
    series
        Of a file of a series, which one it is, and what changed since the one before.
    ledger_head
        The head of the ledger when the release had been noted; ``""`` where it was in none.
    verdict
        Whether it is ``ready``, and the ``headline`` of its verdict; empty until it is written.
    """

    options: Options
    constraints: tuple[Constraint | Budget, ...]
    seed: int
    keyed: bool
    schema_sha256: str
    input_sha256: str = ""
    output_sha256: str = ""
    population: int | None = None
    register_sha256: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    engine: Engine = Engine.EMBEDDED
    preparation: tuple[StepCount, ...] = ()
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    series: Mapping[str, Any] = field(default_factory=dict)
    ledger_head: str = ""
    verdict: Mapping[str, Any] = field(default_factory=dict)

    def promised(self, constraint: Constraint | Budget) -> bool:
        """Whether a count, in the file or a register, keeps a constraint, and no estimate."""
        if is_added(constraint):
            return True
        if isinstance(constraint, Promise) and not constraint.is_counted:
            return False
        return self.population is None or not isinstance(constraint, AboutPopulation)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for TOML and JSON."""
        return {
            **({"verdict": dict(self.verdict)} if self.verdict else {}),
            "release": {
                "seed": self.seed,
                "keyed_pseudonyms": self.keyed,
                "schema_sha256": self.schema_sha256,
                "input_sha256": self.input_sha256,
                "output_sha256": self.output_sha256,
                **({} if self.population is None else {"population": self.population}),
                **({"register_sha256": self.register_sha256} if self.register_sha256 else {}),
                **({} if self.engine is Engine.EMBEDDED else {"engine": self.engine.value}),
            },
            "options": self.options.to_dict(),
            "constraints": [
                {
                    "name": constraint.name,
                    **({} if self.promised(constraint) else {"promised": False}),
                    **constraint.parameters(),
                }
                for constraint in self.constraints
            ],
            **(
                {"recipe": [step.to_json() for step in self.preparation]}
                if self.preparation
                else {}
            ),
            **({"tables": dict(self.tables)} if self.tables else {}),
            **({"series": dict(self.series)} if self.series else {}),
            **({"ledger": {"head": self.ledger_head}} if self.ledger_head else {}),
            "versions": dict(self.versions),
        }

    @property
    def identity(self) -> bytes:
        """A text that two manifests have in common when they repeat the same release."""
        return json.dumps(what_repeats(self.to_dict()), sort_keys=True, default=str).encode()

    def to_toml(self) -> str:
        """It as the text of a TOML file."""
        document = tomlkit.document()
        for line in HEADER.splitlines():
            document.add(tomlkit.comment(line))
        document.update(self.to_dict())
        return tomlkit.dumps(document)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it as TOML, whole or not at all."""
        write_text(path, self.to_toml())


_AFTERWARDS = {"recipe", "tables", "series", "ledger", "versions", "verdict"}


def what_repeats(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What of a manifest makes the release, without what came out and who computed it.

    The fields are plain values, of a file that may be another's.
    """
    about = fields.get("release")
    release = about if isinstance(about, dict) else {}
    kept = {name: value for name, value in fields.items() if name not in _AFTERWARDS}
    # The hash of the output is what came out, and stands empty until the file is written.
    return kept | {"release": {**release, "output_sha256": ""}}


def load_manifest(path: str | os.PathLike[str]) -> Manifest:
    """Read a manifest that `Manifest.write` wrote."""
    name = Path(path).name
    try:
        fields = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        release = fields["release"]
        return Manifest(
            # Ends were tight before releases said what they are.
            options=Options(**{"ends": Ends.TIGHT, **fields["options"]}),
            constraints=tuple(_constraint(entry) for entry in fields["constraints"]),
            seed=release["seed"],
            keyed=release["keyed_pseudonyms"],
            schema_sha256=release["schema_sha256"],
            input_sha256=release["input_sha256"],
            output_sha256=release["output_sha256"],
            population=release.get("population"),
            register_sha256=release.get("register_sha256", ""),
            versions=fields["versions"],
            engine=Engine(release.get("engine", Engine.EMBEDDED)),
            preparation=tuple(_step(**step) for step in fields.get("recipe", ())),
            tables=fields.get("tables", {}),
            series=fields.get("series", {}),
            ledger_head=fields.get("ledger", {}).get("head", ""),
            verdict=fields.get("verdict", {}),
        )
    # The file may be anybody's. Whatever is wrong with it is one mistake to its reader.
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"manifest {name}", "must be a release.toml that sfumato wrote") from None


def _step(name: str, **fields: Any) -> StepCount:
    return StepCount(name, **fields)


def _constraint(fields: Mapping[str, Any]) -> Constraint | Budget:
    made: Constraint | Budget = restored(fields)
    return made


def tables_sha256(files: Mapping[str, Path]) -> str:
    """Hash of the files of a set of tables, in the order of their names."""
    lines = [f"{name} {file_sha256(files[name])}" for name in sorted(files)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def file_sha256(path: str | os.PathLike[str]) -> str:
    """Hash of a file, read in pieces."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
