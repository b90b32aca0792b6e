"""The files of a series: which one is continued, and the next one in its classes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.errors import ConstraintsNotMetError, InputError, typed
from sfumato.core.number_text import counted
from sfumato.core.secret_keys import FOR_REPEATING, Secret, read_secret
from sfumato.release.generalisation import ExtraValues, ReleasedColumns
from sfumato.release.lasting_cells import WAITING, Cells
from sfumato.release.lasting_classes import SERIES_FILE, LastingClasses, ids_of
from sfumato.release.partitioning import Draft
from sfumato.release.promises.k_anonymity import KAnonymity, PidKAnonymity
from sfumato.release.promises.promise import Budget, Constraint, ordered_attributes
from sfumato.release.release_manifest import Manifest, load_manifest
from sfumato.release.tree import Partition
from sfumato.risk.class_measures import ranks_of, rows_of_tables
from sfumato.risk.classes import summarize
from sfumato.table.table import Codes, Table

Promised = Constraint | Budget
_PERIOD = re.compile(r"\d{4}(-(0[1-9]|1[0-2]|Q[1-4]|W(0[1-9]|[1-4]\d|5[0-3])))?")


def following(period: str) -> str:
    """The period after one: the next year, quarter, month or week."""
    year, _, part = str(period).partition("-")
    is_period = _PERIOD.fullmatch(str(period)) is not None
    if is_period and part.startswith("W"):
        try:
            monday = date.fromisocalendar(int(year), int(part[1:]), 1) + timedelta(weeks=1)
        except ValueError:  # most years have no 53rd week
            is_period = False
        else:
            after = monday.isocalendar()
            return f"{after.year:04}-W{after.week:02}"
    if not is_period:
        raise InputError(
            "parameter period",
            "must be a year, a quarter, a month or a week",
            found="another text",
            accepted="for example 2026, 2026-Q1, 2026-01, 2026-W05",
        )
    if not part:
        return f"{int(year) + 1:04}"
    letter, last, width = ("Q", 4, 1) if part.startswith("Q") else ("", 12, 2)
    number = int(part.removeprefix(letter)) % last + 1
    return f"{int(year) + (number == 1):04}-{letter}{number:0{width}}"


def check_newcomers(promises: Sequence[Promised], newcomers_k: int | None) -> None:
    """Refuse a number of people in classes of newcomers that changes nothing."""
    if newcomers_k is not None and _with_newcomers(promises, newcomers_k) == tuple(promises):
        raise InputError(
            "parameter newcomers_k",
            "must be fewer people than every class of the first file has",
            found=f"{newcomers_k}",
            accepted=f"less than {typed('PidKAnonymity', '--pid-k')} promises",
            advice="leave it out: newcomers have classes of as many people then",
        )


def _with_newcomers(promises: Sequence[Promised], newcomers_k: int) -> tuple[Promised, ...]:
    return tuple(
        replace(each, k=min(each.k, newcomers_k))
        if isinstance(each, (KAnonymity, PidKAnonymity))
        else each
        for each in promises
    )


@dataclass(frozen=True, eq=False)
class Earlier:
    """The file of a series that is continued."""

    manifest: Manifest
    secret: Secret
    lasting: LastingClasses

    @classmethod
    def of(cls, continues: Any) -> Earlier:
        """It as a release that is at hand, or by the path of its manifest."""
        if not isinstance(continues, (str, os.PathLike)):
            if continues.secret is None or continues.lasting is None:
                raise _no_series("a release of no series, or one that was pickled")
            return cls(continues.manifest, continues.secret, continues.lasting)
        path = Path(continues)
        manifest = load_manifest(path)
        if "classes_sha256" not in manifest.series:
            raise _no_series("one of no series")
        secret = read_secret(path.with_name(FOR_REPEATING), "parameter continues")
        classes = manifest.series["classes_sha256"]
        lasting = LastingClasses.read(path.with_name(SERIES_FILE), classes)
        if lasting.seal != sealed(manifest, Secret(secret)):
            raise InputError(
                "parameter continues",
                "must have the secret, promises and options that the series was opened with",
                found=f"another {FOR_REPEATING}, or a {path.name} that was changed",
                advice="bring back the files as they were written",
            )
        return cls(manifest, Secret(secret), lasting)

    @property
    def promises_after(self) -> tuple[Promised, ...]:
        """The promises of the next file, of which newcomers may have smaller classes.

        Those of the first file lose nobody: what it promised them goes on to hold.
        """
        promises, fewer = self.manifest.constraints, self.manifest.options.newcomers_k
        return promises if fewer is None else _with_newcomers(promises, fewer)

    def check_next(self, schema_sha256: str, input_sha256: str, period: str | None) -> None:
        """Refuse a file that cannot be the next one."""
        before = self.manifest.series.get("period")
        expected = None if before is None else following(before)
        if period != expected:
            raise InputError(
                "parameter period",
                "must be the one after that of the file which is continued",
                found=period or "none",
                accepted=expected or "none, as that file has none",
            )
        if schema_sha256 != self.manifest.schema_sha256:
            raise InputError(
                "parameter schema",
                "must be that of the file which is continued",
                found="another content",
                advice="open another series, or take the schema of its first file",
            )
        if input_sha256 and input_sha256 == self.manifest.input_sha256:
            raise InputError(
                "the data",
                "must be a later file than the one which is continued",
                found="the same file again",
            )


def sealed(manifest: Manifest, secret: Secret) -> str:
    """What only the secret of a series makes of its promises and options."""
    plain = manifest.to_dict()
    said = json.dumps([plain["options"], plain["constraints"]], sort_keys=True, default=str)
    return secret.bound(b"series file", said.encode()).hex()


def _no_series(found: str) -> InputError:
    return InputError(
        "parameter continues",
        "must name the release.toml of the last file of a series",
        found=found,
        advice="open one with its first file: " + typed("series='snapshot'", "--series snapshot"),
    )


@dataclass(frozen=True, eq=False)
class Continued:
    """A file in the classes of its series.

    By quasi-identifier it counts people whose value is no longer in the cell that they keep.
    """

    draft: Draft
    released: ReleasedColumns
    lasting: LastingClasses
    waiting: int
    changed: Mapping[str, int]

    @classmethod
    def of(
        cls, table: Table, lasting: LastingClasses, constraints: Sequence[Constraint]
    ) -> Continued:
        """The records of a file in the classes of their persons, with the cells that these have.

        Classes that look the same stay apart: who knows when people came tells them.
        ConstraintsNotMetError if a class no longer keeps a promise.
        """
        own = np.array([lasting.class_of.get(name, WAITING) for name in ids_of(table)], np.int32)
        columns = [
            Cells(
                identifier,
                lasting.cells[identifier.name],
                lasting.columns[identifier.name][1],
                table.schema.quasi_identifiers[identifier.name].order,
            )
            for identifier in table.quasi_identifiers
        ]
        admitted = np.flatnonzero(own[table.person] != WAITING)
        there = table.take(admitted)
        used, number = np.unique(own[table.person[admitted]], return_inverse=True)
        class_of = number.astype(np.int32)
        _check_kept(there, class_of, constraints)
        values = [column.values(used) for column in columns]
        extra = ExtraValues(
            tuple(codes for codes, _ in values), tuple(of for _, of in values), alone=True
        )
        of_person = class_of[np.unique(there.person, return_index=True)[1]]
        tree = Partition(of_person, len(used), 0).measured(np.bincount(there.person))
        draft = Draft(admitted, there, class_of, tree, len(used), extra=extra)
        released: ReleasedColumns = {
            column.column.name: (column.shown(used),) for column in columns
        }
        changed = {column.column.name: column.outside(table.person, own) for column in columns}
        waiting = table.persons - there.persons - len(lasting.hidden)
        return cls(draft, released, lasting, waiting, changed)

    def noted(self, before: str) -> dict[str, Any]:
        """What a manifest says of it."""
        return {
            "file": self.lasting.files,
            "continues_sha256": before,
            "waiting": self.waiting,
            "left": len(self.lasting.gone),
            **({"withdrawn": self.lasting.retired} if self.lasting.retired else {}),
            "changed": {name: people for name, people in self.changed.items() if people},
        }

    def sentences(self) -> Iterator[str]:
        """What the reader of a release should know."""
        if self.waiting:
            yield f"left out, waiting for classes of their own: {counted(self.waiting, 'newcomer')}"
        if self.lasting.retired:
            yield (
                f"left out from now on: {counted(self.lasting.retired, 'person')} who withdrew "
                "or retired, or shared a class with one who did; earlier files and release.series "
                "still hold them"
            )
        if self.lasting.unknown:
            yield (
                f"no person left, as no file names it: {counted(self.lasting.unknown, 'id')} "
                "of people who withdrew; only who is named just so is in no later file either"
            )
        for name, people in self.changed.items():
            if people:
                yield (
                    f"column '{name}' shows of {counted(people, 'person')} what their class "
                    "showed before; "
                    "their value has changed since"
                )


def _check_kept(table: Table, class_of: Codes, constraints: Sequence[Constraint]) -> None:
    """Refuse a file in which a class no longer keeps a promise.

    Nobody is held back instead: a class that is gone for a month tells what it broke.
    """
    count = int(class_of.max(initial=-1)) + 1
    summary = summarize(
        class_of,
        count,
        table.person,
        {column.name: column.codes for column in table.sensitive},
        ranks=ranks_of(table, ordered_attributes(constraints, table.schema.sensitive)),
        rows=rows_of_tables(table),
    )
    broken = {constraint.name: ~constraint.met(summary) for constraint in constraints}
    failures = [
        f"{name} is no longer kept by {int(which.sum())} of {count} classes, of "
        f"{int(summary.persons[which].sum())} people."
        for name, which in broken.items()
        if which.any()
    ]
    if failures:
        raise ConstraintsNotMetError(
            tuple(failures),
            ("open another series; a reader of both finds more",),
            "This file cannot continue the series.",
        )
