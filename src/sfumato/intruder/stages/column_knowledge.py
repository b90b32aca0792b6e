"""Further columns that are known: how what they give away is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sfumato.core.measure import Measure
from sfumato.intruder.attacks.column_attack import with_column
from sfumato.intruder.referee.attack_odds import Outcome, success
from sfumato.intruder.referee.criteria import columns_found
from sfumato.intruder.stages.scene import INFERRED, SINGLED, Act, Scene, Staged, another


def columns(scene: Scene) -> Iterator[Staged]:
    """Find people by their class and the value of one further column of the release.

    Nothing is predicted about it. A column that gives away the person or a quasi-identifier is a
    warning.

    Parameters
    ----------
    scene
        What to work on.
    """
    file, truth, known = scene.file, scene.truth, scene.exact
    owner = truth.owner[np.unique(file.unit, return_index=True)[1]]
    rows = np.unique(known.person, return_index=True)[1]
    row_of_unit = np.where(owner >= 0, rows[owner], -1)
    people = (scene.schema.person, scene.schema.household)
    shown = [*file.sensitive, *(each for each in file.others if each.name not in people)]
    for column in shown:
        rng = scene.rng(f"column:{column.name}")
        found = with_column(file, column, known.quasi_identifiers, row_of_unit, rng)
        right, without = int(found.right.sum()), float(found.without.mean())
        foretold = sorted(found.foretold.items(), key=lambda each: -each[1])
        notes = [f"{found.alone:.1%} are the only ones of their class with their value."]
        if foretold:
            tells = ", ".join(f"{share:.0%} of '{name}'" for name, share in foretold)
            notes.append(f"Of what is not known the column foretells {tells}.")
        success_with = success(right, file.persons)
        warning = (
            f"Column '{column.name}' is released as it is, and it {found.gives}: "
            f"{success_with.value:.1%} are found with it, {without:.1%} without it."
        )
        name = f"column:{column.name}"
        accepted = column.name in scene.schema.accepted
        judged = accepted or bool(found.gives) or column.name in scene.schema.events
        told = f"assuming that nobody knows what '{column.name}' says of a person: with the class "
        told += f"{success_with.value:.1%} are found by it"
        yield Staged(
            Outcome(
                name,
                "The intruder knows the class of everybody in the file and this column's value in "
                "a record of theirs, and names one of those who have both.",
                file.persons,
                right,
                success_with,
                Measure("baseline", without, why="the same without the column"),
                notes=tuple(notes),
            ),
            warnings=(warning,) if found.gives else (),
            findings=tuple(replace(each, accepted=accepted) for each in columns_found(name, found)),
            assuming=told if not judged and success_with.value > scene.tolerance.person else "",
        )


ACT = Act("columns", 150, columns, another, SINGLED | INFERRED, essential=True)
