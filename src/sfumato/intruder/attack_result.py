"""What attacks found, and what the release had claimed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Ints
from sfumato.core.declaration import plain_fields
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.core.notebook_parts import lead, notes, styled_table
from sfumato.core.number_text import share_text, wrapped
from sfumato.intruder.knowledge import Knowledge
from sfumato.intruder.reading import ReleasedFile, TextColumn
from sfumato.intruder.referee.attack_odds import CalibrationBin, Outcome
from sfumato.intruder.referee.judgements import Truth
from sfumato.release.cures import detail_lost
from sfumato.release.release_result import Release
from sfumato.risk.assessment import assess
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.evidence import REVIEW, Evidence, beaten_text
from sfumato.risk.intruders import Found, measured
from sfumato.risk.learned_values import Share
from sfumato.risk.shown_file import FurtherColumn, ShownFile
from sfumato.risk.verdict import EXIT_CODES, State, Verdict
from sfumato.schema import Kind, QuasiIdentifier, Schema
from sfumato.table.table import MISSING

CLASS, PERSON, HOUSEHOLD, SENSITIVE, EVENT = "class", "person", "household", "s", "e"
"""Names of the columns of the table of codes that a released file is measured by."""


@dataclass(frozen=True)
class Claims:
    """The measures that attacks are held against.

    Attributes
    ----------
    measures
        By the name of what they are held against; those of a sensitive attribute as
        ``max_gsar:<column>``. For linked data, against a register, the risk of linkage anonymity
        stands in the place of ``marketer``, and 1 / k in that of ``journalist``.
    own
        Whether they come with the release; else they were measured on the released file, with
        its cells as labels.
    against_register
        What they say about somebody who holds a register instead, where that is something else.
    register_persons
        The fewest persons that this register has: those of the population.
    promises, detail_lost
        What the release promises, and the share that it lost; ``None`` where it is not at hand.
    """

    measures: Mapping[str, Measure]
    own: bool
    against_register: Mapping[str, Measure] = field(default_factory=dict)
    register_persons: int = 1
    promises: tuple[str, ...] = ()
    detail_lost: float | None = None

    def for_register(self, persons: int) -> Claims:
        """The claims about somebody who holds a register of so many persons.

        With a smaller one, such as a list of who is in the release, or with none, no more is
        claimed than about an acquaintance.
        """
        if persons < self.register_persons:
            return self
        return replace(self, measures={**self.measures, **self.against_register})

    def get(self, name: str, column: str | None = None) -> Measure | None:
        """The measure of this name, or ``None``."""
        return self.measures.get(name if column is None else f"{name}:{column}")

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "made_by": "the release" if self.own else "measured on the released file",
            "measures": {name: measure.to_json() for name, measure in self.measures.items()},
            **plain_fields(self, "promises detail_lost"),
        }


def claims_of_release(release: Release) -> Claims:
    """What a release says about itself, to somebody who knows who is in it."""
    claims = Claims(
        _measures(release.risk),
        own=True,
        promises=release.promise_words,
        detail_lost=detail_lost(release),
    )
    if release.population is None:
        return claims
    against = {"marketer": release.population.marketer}
    return replace(claims, against_register=against, register_persons=release.population.persons)


def claims_of_file(
    file: ReleasedFile,
    *,
    population: int | None = None,
    seed: int | None = None,
    events: Sequence[str] = (),
    household: str | None = None,
) -> Claims:
    """What `assess` measures on a released file, records with the same cells in one class.

    Parameters
    ----------
    population
        The number of persons of the population, where it is known: journalist and marketer risk
        are then estimated.
    events
        Columns that tell events of which an intruder may know some, as exactly as they are shown.
    household
        The column that names households, where the file may have it.
    """
    # Records with the same cells are a class already: its number measures the same as all the
    # cells.
    columns = {CLASS: pa.array(file.class_of)}
    if file.person is not None:
        columns[PERSON] = pa.array(file.person)
    names = {f"{SENSITIVE}{place}": column for place, column in enumerate(file.sensitive)}
    columns |= {name: _codes(column) for name, column in names.items()}
    homes = [column for column in file.others if column.name == household]
    if homes:
        columns[HOUSEHOLD] = _codes(homes[0])
    others = [column for column in file.others if column.name in events]
    silent = {f"{EVENT}{place}": _codes(column) for place, column in enumerate(others)}
    told = [name for name, column in names.items() if column.name in events]
    schema = Schema(
        person=None if file.person is None else PERSON,
        household=HOUSEHOLD if homes else None,
        quasi_identifiers={CLASS: QuasiIdentifier(kind=Kind.CATEGORICAL)},
        sensitive=tuple(names),
        insensitive=tuple(silent),
        events=(*told, *silent),
    )
    if population is not None and population < file.persons:
        raise InputError(
            "parameter population",
            "must be at least the number of people of the released file",
            accepted=f"from {file.persons:,}",
        )
    risk = assess(pa.table(columns | silent), schema, population=population, seed=seed)
    measures = _measures(risk, {name: column.name for name, column in names.items()})
    return Claims(measures, own=False)


def found_in_file(
    file: ReleasedFile, truth: Truth, exact: Knowledge, schema: Schema, *, itself: bool
) -> Found:
    """What intruders find in a released file by its cells, whatever anybody promised.

    Who is not in the register is somebody of their own. Of a file that is its own original, the
    cells are all that is known.
    """
    owned = truth.owner >= 0
    people = np.where(owned, truth.owner, len(truth.released) + file.unit)
    rows = np.unique(exact.person, return_index=True)[1]
    row = np.where(owned, rows[truth.owner], 0)
    if itself:
        known = [column.codes for column in file.quasi_identifiers]
    else:
        known = [
            np.where(owned, identifier.codes[row], MISSING)
            for identifier in exact.quasi_identifiers
        ]
    names = {schema.person, schema.household}
    shown = [*file.sensitive, *(column for column in file.others if column.name not in names)]
    return measured(
        ShownFile(
            np.unique(people, return_inverse=True)[1].astype(np.int32),
            file.class_of.astype(np.int32),
            # What is no text tells nothing, as in a table.
            {each.name: FurtherColumn(each.told.astype(np.int32)) for each in shown},
            tuple(attribute.name for attribute in file.sensitive),
            tuple(name for name in schema.events if name in {each.name for each in shown}),
            tuple(codes.astype(np.int32) for codes in known),
            file.unit.astype(np.int32),
        )
    )


def chances_in_register(file: ReleasedFile, fitting: Ints) -> tuple[Share, Share]:
    """The mean and the highest chance of released people to be found in a register.

    Those of its people who fit each class have shape (classes,).
    """
    best = np.zeros(file.persons)
    # Whom nobody fits is not in the register.
    chance = np.where(fitting > 0, 1 / np.maximum(fitting, 1), 0.0)
    np.maximum.at(best, file.unit, chance[file.class_of])
    return Share.of(float(best.mean())), Share.of(float(best.max(initial=0.0)))


def _codes(column: TextColumn) -> pa.Array:
    return pa.array(column.codes, mask=column.told < 0).cast(pa.string())


def _measures(risk: Risk, names: Mapping[str, str] | None = None) -> dict[str, Measure]:
    """The measures that an attack can exceed, by name."""
    own = ("prosecutor", "journalist", "marketer", "max_gidr", "avg_gidr")
    measures = {name: getattr(risk, name) for name in (*own, "max_count_risk", "avg_count_risk")}
    if risk.household is not None:
        whole = risk.household.avg_composition_risk, risk.household.max_composition_risk
        measures |= {each.name: each for each in whole}
    told = () if risk.known_events is None else risk.known_events.risks
    # The attack is told events that are drawn at random: other risks are not about it.
    measures |= {each.found.name: each.found for each in told if each.drawn == "random"}
    for column, of_column in risk.sensitive.items():
        shown = column if names is None else names[column]
        for measure in (of_column.max_gsar, of_column.avg_gsar):
            measures[f"{measure.name}:{shown}"] = measure
    return {name: replace(measure, where=None) for name, measure in measures.items()}


HEAD = ("row", "attack", "right", "success", "predicted", "at most", "random", "control", "")


@dataclass(frozen=True, eq=False, repr=False)
class Attack:
    """What the attacks on a released file found, and what is said of it.

    Attributes
    ----------
    outcomes
        One for each attack, in the order in which they ran.
    evidence
        What each that was tried says of its row.
    verdict
        What four intruders find in the file, the evidence included; ``None`` where a review alone
        was attacked, and in a project, whose report knows more.
    records, persons
        Number of released records, and of persons (pseudonyms) in them.
    register_persons
        Persons of the register that the intruder held.
    held
        What the intruder held, one sentence each; publishable.
    claims
        What was predicted.
    seed
        Seed of every random choice.
    warnings
        What the reader should know; publishable.
    calibration
        By attack, guesses grouped by the chance that the intruder gave them.
    about
        What was attacked: ``release``, or ``review`` where it was a clerical review alone;
        `records` are then the rows that screens showed, `persons` the records that they are of.
    """

    outcomes: tuple[Outcome, ...]
    evidence: tuple[Evidence, ...]
    verdict: Verdict | None
    records: int
    persons: int
    register_persons: int
    held: tuple[str, ...]
    claims: Claims
    seed: int
    warnings: tuple[str, ...] = ()
    calibration: Mapping[str, tuple[CalibrationBin, ...]] = field(default_factory=dict)
    about: str = "release"

    @property
    def broken(self) -> tuple[Outcome, ...]:
        """The attacks that exceeded what was predicted beyond what chance allows in one run."""
        return tuple(outcome for outcome in self.outcomes if outcome.broken)

    @property
    def exit_code(self) -> int:
        """How a command ends: by the worst row, then by what screens of a review showed."""
        code = 0 if self.verdict is None else self.verdict.exit_code
        screens = any(each.beaten and each.intruder == REVIEW for each in self.evidence)
        return code or (EXIT_CODES[State.ABOVE] if screens else 0)

    @property
    def sentence(self) -> str:
        """The result in a sentence or two."""
        return beaten_text(self.evidence) if self.verdict is None else self.verdict.summary

    def to_json(self) -> dict[str, Any]:
        """Plain values: counts, shares and words; no value of the data."""
        return {
            "verdict": None if self.verdict is None else self.verdict.to_json(),
            "evidence": [asdict(each) for each in self.evidence],
            "sentence": self.sentence,
            "broken": [outcome.attack for outcome in self.broken],
            **plain_fields(self, "about records persons register_persons held claims"),
            "attacks": [outcome.to_json() for outcome in self.outcomes],
            "calibration": {
                name: [each.to_json() for each in bins] for name, bins in self.calibration.items()
            },
            **plain_fields(self, "seed warnings"),
        }

    def rows(self) -> list[tuple[str, ...]]:
        """The lines of a table below `HEAD`: texts, row by row of the verdict."""
        order = [*([] if self.verdict is None else [row.intruder for row in self.verdict.rows])]
        place = [*order, REVIEW].index
        every = sorted(self.outcomes, key=lambda each: (place(each.intruder), each.rank))
        return [
            (
                outcome.intruder,
                outcome.attack,
                f"{outcome.right:,} of {outcome.attempts:,}",
                with_interval(outcome.success) if outcome.attempts else "-",
                "-" if outcome.predicted is None else named(outcome.predicted),
                "-" if outcome.allowed is None else share_text(outcome.allowed),
                share_text(outcome.baseline.value) if outcome.attempts else "-",
                "-" if outcome.control is None else share_text(outcome.control.value),
                "BEATEN" if outcome.broken else "by chance" if outcome.above else "",
            )
            for outcome in every
        ]

    def __str__(self) -> str:
        lines = [*wrapped(self.sentence), "", *self.held]
        lines += [*(f"Warning: {warning}" for warning in self.warnings), ""]
        if self.verdict is not None:
            lines += [*self.verdict.lines(), ""]
        lines += ["Evidence", *(f"  {line}" for line in _aligned([HEAD, *self.rows()]))]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Attack({self.sentence} seed={self.seed})"

    def _repr_html_(self) -> str:
        made = styled_table("Attack", HEAD, self.rows())
        return f"{lead(self.sentence)}{made}{notes(self.warnings)}"


def with_interval(measure: Measure) -> str:
    """A share with its interval, where it has one."""
    if measure.low is None or measure.high is None:
        return share_text(measure.value)
    value, *ends = map(share_text, (measure.value, measure.low, measure.high))
    return f"{value} ({' to '.join(ends)})"


def named(measure: Measure) -> str:
    """A prediction with the name of its measure."""
    return f"{share_text(measure.value)} {measure.name}"


def _aligned(rows: Iterable[tuple[str, ...]]) -> list[str]:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
