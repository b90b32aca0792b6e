"""Further columns that are known: how what they give away is judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Ints
from sfumato.core.measure import Measure
from sfumato.core.number_text import percentage
from sfumato.core.phrases import Listed, Phrase
from sfumato.intruder.attacks.scene import Act, Scene, Staged, another
from sfumato.intruder.guesses.column_attack import FORETOLD, LEAST, likeness, with_column
from sfumato.intruder.knowledge import KnownColumn
from sfumato.intruder.reading import TextColumn
from sfumato.intruder.referee.attack_odds import Outcome, success
from sfumato.schema import Schema
from sfumato.table.combinations import Target, boosting_lacks, foretold_together
from sfumato.table.dependence import leaks_by_making, of_unknown
from sfumato.table.door import open_table
from sfumato.table.sources import from_numpy
from sfumato.table.table import Table

UNCHANGED = 0.5
"""Share of the records in which an event is released as it is, from which nothing is hidden."""


def columns(scene: Scene) -> Iterator[Staged]:
    """Find people by their class and the value of one further column of the release.

    Nothing is predicted about it. A column that gives away the person, a quasi-identifier, or an
    event that the release writes otherwise is a warning.
    """
    file, events = scene.file, _hidden_events(scene)
    known = scene.exact.quasi_identifiers, _rows_of_units(scene)
    alike_by = likeness(*known, scene.rng("columns"))
    silent = []
    for column in _shown(scene):
        rng = scene.rng(f"column:{column.name}")
        # A column of events would foretell itself.
        beside = [] if column.name in scene.schema.events else [events]
        column_finds = with_column(file, column, [known, *beside], alike_by, rng)
        silent += [] if column_finds.gives else [column]
        right, without = int(column_finds.right.sum()), float(column_finds.without.mean())
        foretold = sorted(column_finds.foretold.items(), key=lambda each: -each[1])
        notes = [
            Phrase(
                "{share} are the only ones of their class with their value.",
                share=percentage(column_finds.alone),
            )
        ]
        if foretold:
            tells = Listed(
                Phrase("{share} of '{column}'", share=percentage(share), column=name)
                for name, share in foretold
            )
            notes.append(
                Phrase("Of what is not known the column foretells {columns}.", columns=tells)
            )
        success_with = success(right, file.persons)
        warning = (
            f"Column '{column.name}' is released as it is, and it {column_finds.gives}: "
            f"{percentage(success_with.value)} are found with it, {percentage(without)} without it."
        )
        name = f"column:{column.name}"
        yield Staged(
            Outcome(
                name,
                Phrase(
                    "The intruder knows the class of everybody in the file and this column’s value "
                    "in a record of theirs, and names one of those who have both."
                ),
                file.persons,
                right,
                success_with,
                Measure("baseline", without, why="the same without the column"),
                notes=tuple(notes),
            ),
            warnings=(warning,) if column_finds.gives else (),
            speaks=scene.found_people(column=column.name),
        )
    # A release of ours was held against this before it was made.
    if silent and not scene.claims.own and (known[1] >= 0).sum() >= LEAST:
        yield from _made(scene, silent)


def _made(scene: Scene, columns: Sequence[TextColumn]) -> Iterator[Staged]:
    """What is told by something made of columns that tell nothing as they are.

    Sums within a person, joined parts, texts that decode, published formulas: whatever a release of
    ours is held against, with what is true of the people beside the released cells.
    """
    persons = scene.file.persons
    for leak in leaks_by_making(_with_truth(scene, columns)):
        # The numbers of persons are ours: the release does not show them.
        if leak.column == UNIT:
            continue
        right = round(persons * leak.share)
        yield Staged(
            Outcome(
                f"made:{leak.column}",
                Phrase(
                    "The intruder tells a quasi-identifier or an identifier by what can be made of "
                    "the column, in all records of a person, alone or together with others."
                ),
                persons,
                right,
                success(right, persons),
                Measure("baseline", 0.0, why="what chance explains is left out"),
            ),
            warnings=(f"Column '{leak.column}' is released as it is, and it {leak.how}.",),
        )


UNIT = "\0unit"
"""The released person, as no column is called."""


def _with_truth(scene: Scene, columns: Sequence[TextColumn]) -> Table:
    """The released columns with the true quasi-identifiers and identifiers of their people."""
    file, schema = scene.file, scene.schema
    row = _rows_of_units(scene)[file.unit]
    own = np.flatnonzero(row >= 0)
    named = {*schema.direct_identifiers, schema.person, schema.household}
    direct = [column for column in scene.exact.others if column.name in named]
    quasi = {
        identifier.name: "numeric"
        if np.isfinite(identifier.numbers[codes]).all()
        else "categorical"
        for identifier in scene.exact.quasi_identifiers
        if (codes := [place for place, text in enumerate(identifier.texts) if text is not None])
    }
    beside = [
        identifier for identifier in scene.exact.quasi_identifiers if identifier.name in quasi
    ] + direct
    shown = [
        text_column
        for text_column in columns
        if text_column.name not in {each.name for each in beside}
    ]
    told: list[tuple[TextColumn | KnownColumn, Ints]] = [
        *((each, each.codes[own]) for each in shown),
        *((each, each.codes[row[own]]) for each in beside),
    ]
    cells = {
        each.name: pa.array(each.texts, pa.large_string()).take(from_numpy(codes))
        for each, codes in told
    }
    return open_table(
        pa.table({UNIT: from_numpy(file.unit[own]), **cells}),
        Schema(
            person=UNIT,
            quasi_identifiers=quasi,
            insensitive=[each.name for each in shown],
            direct_identifiers=[each.name for each in direct],
            missing=schema.missing,
        ),
    )


def _shown(scene: Scene) -> list[TextColumn]:
    """The released columns that are no quasi-identifiers and name nobody."""
    people = (scene.schema.person, scene.schema.household)
    others = (column for column in scene.file.others if column.name not in people)
    return [*scene.file.sensitive, *others]


def _rows_of_units(scene: Scene) -> Ints:
    """A row of what is known of each released person, -1 of a stranger."""
    owner = scene.truth.owner[np.unique(scene.file.unit, return_index=True)[1]]
    rows = np.unique(scene.exact.person, return_index=True)[1]
    return np.where(owner >= 0, rows[owner], -1)


def _hidden_events(scene: Scene) -> tuple[tuple[KnownColumn, ...], Ints]:
    """True events that the release writes otherwise, and their rows, by released person.

    Of who has several records nobody knows which one is which row of the register: -1.
    """
    events, file = scene.events, scene.file
    if events is None or not scene.schema.events:
        return (), np.full(file.persons, -1)
    first = np.unique(file.unit, return_index=True)[1]
    owner = scene.truth.owner[first]
    records = np.bincount(events.person, minlength=int(owner.max(initial=0)) + 1)
    one = (np.bincount(file.unit, minlength=file.persons) == 1) & (records[owner] == 1)
    row = np.unique(events.person, return_index=True)[1]
    # Both sides are evaluated: places of persons without an event must be in range, too.
    rows = np.where(one & (owner >= 0), row[np.minimum(owner, len(row) - 1)], -1)
    shown = {each.name: each for each in _shown(scene)}
    units, hidden = np.flatnonzero(rows >= 0), []
    for column in (column.column for column in events.columns):
        released = shown[column.name]
        same = [
            released.texts[one] == column.texts[other]
            for one, other in zip(
                released.codes[first[units]].tolist(),
                column.codes[rows[units]].tolist(),
                strict=True,
            )
        ]
        # Of what is released as it is nothing is hidden that another column could give away.
        if not same or np.mean(same) < UNCHANGED:
            hidden.append(column)
    return tuple(hidden), rows


def combinations(scene: Scene) -> Iterator[Staged]:
    """Foretell each quasi-identifier from all further columns together, by a model.

    The model is trained on people whom the intruder knows, and never on the one that it is asked
    about. Nothing is predicted about it.
    """
    file, row_of_unit = scene.file, _rows_of_units(scene)
    units = np.flatnonzero(row_of_unit >= 0)
    first = np.unique(file.unit, return_index=True)[1][units]
    columns = {
        each.name: [each.texts[code] for code in each.codes[first].tolist()]
        for each in _shown(scene)
    }
    targets = {}
    for identifier in scene.exact.quasi_identifiers:
        codes = identifier.codes[row_of_unit[units]]
        numbers, told = (
            identifier.numbers[codes],
            np.array([text is not None for text in identifier.texts]),
        )
        ordered = bool(np.isfinite(numbers[told[codes]]).all())
        codes = np.unique(numbers, return_inverse=True)[1] if ordered else codes
        targets[identifier.name] = Target(
            np.where(told[identifier.codes[row_of_unit[units]]], codes, -1), ordered
        )
    for name, together in foretold_together(columns, targets, scene.rng("combinations")).items():
        attack, named = f"combinations:{name}", ", ".join(f"'{each}'" for each in together.columns)
        # What one column tells alone is the matter of `columns`.
        several = len(together.columns) > 1 and not set(together.columns) <= set(
            scene.schema.accepted
        )
        warning = (
            f"Columns {named} are released as they are, and together they foretell '{name}' "
            f"{of_unknown(together.share)}."
        )
        yield Staged(
            Outcome(
                attack,
                Phrase(
                    "A model foretells the quasi-identifier from all further columns of the "
                    "release together (gradient boosting, cross-validated)."
                ),
                together.persons,
                together.right,
                success(together.right, together.persons),
                Measure("baseline", together.chance, why="the same value for everybody"),
            ),
            warnings=(warning,) if several and together.share >= FORETOLD else (),
        )


def _boosting(scene: Scene) -> str:
    return boosting_lacks() or another(scene)


COLUMNS = Act("columns", 150, "insider", columns, another)
COMBINATIONS = Act("combinations", 160, "stranger", combinations, _boosting)
