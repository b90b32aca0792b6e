"""Matching by weights of agreement: how it is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

import numpy as np

from sfumato.core.number_text import count
from sfumato.core.optional_packages import install_command
from sfumato.core.phrases import Phrase
from sfumato.intruder.attacks.scene import Act, Scene, Staged, another

WEIGHED = 1 << 26
"""Pairs of a class and a known row that are weighed, in as many classes as make so many."""


NEEDED = ("duckdb", "splink")
"""What probabilistic matching needs beyond the core; the extra ``link`` brings them."""


def nearly(scene: Scene) -> Iterator[Staged]:
    """Match by weights of agreement, each record on its own and nobody named twice.

    Of a large file only the persons of some classes are looked at, drawn at random.
    """
    from sfumato.intruder.guesses.probabilistic_attack import probabilistic

    some = _some_classes(scene, WEIGHED // max(len(scene.knowledge.person), 1))
    found = probabilistic(
        some.file, some.uncounted, scene.rng("probabilistic"), progress=scene.progress
    )
    drawn: tuple[str, ...] = ()
    if some.file.classes < scene.file.classes:
        drawn = (
            Phrase(
                "Of {all} classes {some} were drawn.",
                all=count(scene.file.classes),
                some=count(some.file.classes),
            ),
        )
    for name, guesses, one_to_one, said in (
        ("probabilistic", found.free, False, Phrase("names the likeliest for each record")),
        ("probabilistic_one_to_one", found.one_to_one, True, Phrase("names no person twice")),
    ):
        staged = some.judged(
            name,
            Phrase(
                "The intruder weighs how well each register person agrees with the cells, near "
                "misses included (Splink), and {names}.",
                names=said,
            ),
            guesses,
            "marketer",
            one_to_one=one_to_one,
            calibrated=True,
        )
        noted = replace(staged.outcome, notes=(*staged.outcome.notes, *drawn))
        yield replace(staged, outcome=noted)


def _some_classes(scene: Scene, most: int) -> Scene:
    """The scene with the persons of so many classes in the file; all where there are no more."""
    file = scene.file
    if file.classes <= most:
        return scene
    chosen = np.zeros(file.classes, dtype=np.bool_)
    # At least one, however large the register is.
    chosen[scene.rng("some classes").permutation(file.classes)[: max(most, 1)]] = True
    first = np.unique(file.unit, return_index=True)[1]
    # Persons are taken as a whole: the class of the first record decides about all of them.
    rows = np.flatnonzero(chosen[file.class_of[first]][file.unit])
    truth = replace(scene.truth, owner=scene.truth.owner[rows])
    return replace(scene, file=file.part(rows), truth=truth)


def _splink(scene: Scene) -> str:
    # Only looked for: importing them takes time where the attack is not asked for.
    if any(find_spec(name) is None for name in NEEDED):
        return f"Splink and DuckDB: {install_command('link')}"
    return another(scene)


ACT = Act("probabilistic", 30, "stranger", nearly, _splink)
