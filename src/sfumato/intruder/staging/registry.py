"""The attacks by name, and which of them a scene allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from sfumato.core.errors import InputError
from sfumato.intruder.staging.left_in import identifiers, row_order
from sfumato.intruder.staging.matching import counted, exact
from sfumato.intruder.staging.nearly import nearly
from sfumato.intruder.staging.scene import Scene, Stage
from sfumato.intruder.staging.screen import screen
from sfumato.intruder.staging.several import associations, intersection
from sfumato.intruder.staging.shares import inference, multi_record

NEEDED = ("duckdb", "splink")
"""What probabilistic matching needs beyond the core; the extra ``link`` brings them."""


@dataclass(frozen=True)
class Act:
    """An attack that can be staged.

    Attributes
    ----------
    stage
        Runs it.
    lacks
        What it lacks in a scene, in words; empty where it can run.
    """

    stage: Stage
    lacks: Callable[[Scene], str]


def _nothing(_scene: Scene) -> str:
    return ""


def _counts(scene: Scene) -> str:
    if scene.knowledge.counts is None:
        return "an intruder who knows numbers of records (counts)"
    return "" if scene.file.person is not None else "a person column in the released file"


def _sensitive(scene: Scene) -> str:
    return "" if scene.file.sensitive else "a sensitive column in the released file"


def _priors(scene: Scene) -> str:
    return "another release (priors)" if not scene.priors else _another(scene)


def _review(scene: Scene) -> str:
    return "" if scene.review is not None else "the folder of a review (review)"


def _another(scene: Scene) -> str:
    return "a register or original other than the file itself" if scene.itself else ""


def _splink(scene: Scene) -> str:
    if any(find_spec(name) is None for name in NEEDED):
        return 'Splink and DuckDB (pip install "sfumato[link]")'
    return _another(scene)


ACTS: dict[str, Act] = {
    "exact": Act(exact, _nothing),
    "counts": Act(counted, _counts),
    "probabilistic": Act(nearly, _splink),
    "multi_record": Act(multi_record, _nothing),
    "inference": Act(inference, _sensitive),
    "intersection": Act(intersection, _priors),
    "associations": Act(associations, _priors),
    "screen": Act(screen, _review),
    "row_order": Act(row_order, _another),
    "identifiers": Act(identifiers, _nothing),
}
"""By name, in the order in which they run."""


def check_names(names: Sequence[str] | None) -> tuple[str, ...]:
    """The attacks that are asked for; all where nobody asks.

    Parameters
    ----------
    names
        What is asked for.

    Raises
    ------
    InputError
        If there is no attack of that name.
    """
    asked = ACTS if names is None else ([names] if isinstance(names, str) else names)
    for name in asked:
        if name not in ACTS:
            raise InputError("parameter attacks", "must name attacks", accepted=", ".join(ACTS))
    return tuple(name for name in ACTS if name in asked)


def chosen(scene: Scene, names: Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The attacks to run, and warnings about those that cannot run although they should.

    Parameters
    ----------
    scene
        What they work on.
    names
        The attacks that are asked for; all that fit where nobody asks.

    Raises
    ------
    InputError
        If an attack that is asked for by name lacks something.
    """
    possible, warnings = [], []
    for name in check_names(names):
        lacks = ACTS[name].lacks(scene)
        if not lacks:
            possible.append(name)
        elif names is not None:
            raise InputError(f"attack '{name}'", f"needs {lacks}", found="none")
        elif name == "probabilistic" and not scene.itself:
            warnings.append(f"Probabilistic matching was left out: it needs {lacks}.")
    return tuple(possible), tuple(warnings)
