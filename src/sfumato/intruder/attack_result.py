"""What attacks found, and what the release had claimed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from typing import Any

import pyarrow as pa

from sfumato.core.declaration import plain_fields
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.core.notebook_parts import notes, styled_table
from sfumato.intruder.reading import ReleasedFile, TextColumn
from sfumato.intruder.referee.attack_odds import CalibrationBin, Outcome
from sfumato.intruder.referee.criteria import Criterion, Judged, Standing, Tolerance
from sfumato.release.release_result import Release
from sfumato.risk.assessment import assess
from sfumato.risk.disclosure_risk import Risk
from sfumato.schema import Kind, QuasiIdentifier, Schema

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
    """

    measures: Mapping[str, Measure]
    own: bool
    against_register: Mapping[str, Measure] = field(default_factory=dict)
    register_persons: int = 1

    def for_register(self, persons: int) -> Claims:
        """The claims about somebody who holds a register of so many persons.

        With a smaller one, such as a list of who is in the release, no more is claimed than about
        an acquaintance.

        Parameters
        ----------
        persons
            Persons of the register; none for an acquaintance.
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
            "measures": {name: each.to_json() for name, each in self.measures.items()},
        }


def claims_of_release(release: Release) -> Claims:
    """What a release says about itself, to somebody who knows who is in it."""
    measures = _measures(release.risk)
    if release.population is None:
        return Claims(measures, own=True)
    against = {"marketer": release.population.marketer}
    return Claims(measures, True, against, release.population.persons)


def claims_of_file(
    file: ReleasedFile,
    *,
    population: int | None = None,
    threshold: float = 0.2,
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
    homes = [each for each in file.others if each.name == household]
    if homes:
        columns[HOUSEHOLD] = _codes(homes[0])
    others = [each for each in file.others if each.name in events]
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
            "must be at least the number of persons of the released file",
            accepted=f"from {file.persons:,}",
        )
    risk = assess(
        pa.table(columns | silent), schema, population=population, threshold=threshold, seed=seed
    )
    found = _measures(risk, {name: column.name for name, column in names.items()})
    return Claims(found, own=False)


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
    return {name: replace(each, where=None) for name, each in measures.items()}


HEAD = ("attack", "right", "success", "predicted", "at most", "random", "control", "")


@dataclass(frozen=True, eq=False, repr=False)
class Attack:
    """What the attacks on a released file found.

    Attributes
    ----------
    outcomes
        One for each attack, in the order in which they ran.
    verdict
        How the release stands to the promises, and to what is tolerable of singling out,
        linkability and inference.
    tolerance
        What is tolerable, and who says so.
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
    verdict: Mapping[Criterion, Judged]
    tolerance: Tolerance
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
    def exposed(self) -> int:
        """The most right guesses of persons of which one attack was surer than the threshold.

        Some are expected where the release itself predicts risks above the threshold. Guesses of
        values do not count.
        """
        return max((each.exposed for each in self.outcomes if not is_inference(each)), default=0)

    @property
    def threshold(self) -> float:
        """Chance above which a right guess counts as exposed: what is tolerable of a person."""
        return self.tolerance.person

    @property
    def exceeded(self) -> tuple[Criterion, ...]:
        """The criteria that are exceeded."""
        return tuple(
            name for name, each in self.verdict.items() if each.verdict is Standing.EXCEEDED
        )

    @property
    def caught(self) -> bool:
        """Whether a promise is broken, or a tolerance exceeded, beyond what chance explains."""
        return bool(self.exceeded)

    @property
    def sentence(self) -> str:
        """The result in a sentence or two."""
        parts = []
        for standing in (Standing.EXCEEDED, Standing.WITHIN, Standing.UNTESTED):
            names = [
                name.replace("_", " ") + (" as far as is assumed" if each.assuming else "")
                for name, each in self.verdict.items()
                if each.verdict is standing
            ]
            if names:
                parts.append(f"{standing.value}: {', '.join(names)}")
        tried = [each for each in self.outcomes if each.attempts > 0]
        count = sum(each.predicted is not None for each in tried)
        others = len(tried) - count
        verdict = "; ".join(parts)
        said = f"{len(self.broken) or 'None'} of {count} attacks found more than was predicted."
        more = f" Nothing was predicted about {others} more." if others else ""
        return f"{verdict[:1].upper()}{verdict[1:]}. {said}{more}"

    def to_json(self) -> dict[str, Any]:
        """Plain values: counts, shares and words; no value of the data."""
        return {
            "verdict": {name.value: each.to_json() for name, each in self.verdict.items()},
            "sentence": self.sentence,
            "tolerance": asdict(self.tolerance),
            "caught": self.caught,
            "broken": [outcome.attack for outcome in self.broken],
            **plain_fields(self, "exposed about records persons register_persons held claims"),
            "attacks": [outcome.to_json() for outcome in self.outcomes],
            "calibration": {
                name: [each.to_json() for each in bins] for name, bins in self.calibration.items()
            },
            **plain_fields(self, "threshold seed warnings"),
        }

    def rows(self) -> list[tuple[str, ...]]:
        """The lines of a table below `HEAD`: texts."""
        return [
            (
                outcome.attack,
                f"{outcome.right:,} of {outcome.attempts:,}",
                with_interval(outcome.success) if outcome.attempts else "-",
                "-" if outcome.predicted is None else named(outcome.predicted),
                "-" if outcome.allowed is None else percent(outcome.allowed),
                percent(outcome.baseline.value) if outcome.attempts else "-",
                "-" if outcome.control is None else percent(outcome.control.value),
                "BROKEN" if outcome.broken else "within chance" if outcome.above else "",
            )
            for outcome in self.outcomes
        ]

    def __str__(self) -> str:
        lines = ["Attack", *(f"  {line}" for line in _aligned([HEAD, *self.rows()]))]
        lines += ["", *(f"  {sentence}" for sentence in self.held)]
        lines += [f"  Warning: {warning}" for warning in self.warnings]
        found = f"Right guesses with a chance above {self.threshold:.4g}, at most of one attack: "
        lines += ["", f"{found}{self.exposed:,}", "", f"Verdict ({self._tolerable()})"]
        judged = [each.row(name.value) for name, each in self.verdict.items()]
        lines += [f"  {line}" for line in _aligned(judged)]
        return "\n".join([*lines, "", self.sentence])

    def _tolerable(self) -> str:
        """What is tolerable, and who says so."""
        person, value = percent(self.tolerance.person), percent(self.tolerance.value)
        both = person if person == value else f"{person} of a person, {value} of a value"
        return f"tolerable: {both}, {self.tolerance.source}"

    def __repr__(self) -> str:
        return (
            f"Attack({len(self.outcomes)} attacks, {len(self.broken)} broken, "
            f"exposed={self.exposed}, seed={self.seed})"
        )

    def _repr_html_(self) -> str:
        made = styled_table("Attack", HEAD, self.rows())
        return f"<p>{escape(self.sentence)}</p>{made}{notes(self.warnings)}"


def is_inference(outcome: Outcome) -> bool:
    """Whether an attack guessed values rather than persons."""
    return outcome.attack.startswith("inference")


def percent(share: float) -> str:
    """A share as a percentage, with three digits below 1 %."""
    value = 100 * share
    return f"{value:.3g} %" if 0 < value < 1 else f"{value:.1f} %"


def with_interval(measure: Measure) -> str:
    """A share with its interval, where it has one."""
    if measure.low is None or measure.high is None:
        return percent(measure.value)
    return f"{percent(measure.value)} ({percent(measure.low)} to {percent(measure.high)})"


def named(measure: Measure) -> str:
    """A prediction with the name of its measure."""
    return f"{percent(measure.value)} {measure.name}"


def _aligned(rows: Iterable[tuple[str, ...]]) -> list[str]:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
