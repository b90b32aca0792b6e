"""Columns of which a release shows next to nothing, and what would save them, tried and priced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.declaration import declared
from sfumato.core.number_text import percent
from sfumato.core.phrases import Plural
from sfumato.release.generalisation import generalised, with_snapped_ends
from sfumato.release.information_loss import WHOLE, certainty_penalty
from sfumato.release.partitioning import partition_of_persons
from sfumato.release.person_table import person_table
from sfumato.release.promises.promise import Constraint, Promise, unmet
from sfumato.release.release_options import Cut, Ends, Form, Options, Split
from sfumato.release.utility_measures import ColumnLoss, Utility
from sfumato.risk.risk_thresholds import Bound
from sfumato.schema import Kind
from sfumato.table.sources import listed
from sfumato.table.table import CodedColumn, Table

TRIED_PERSONS = 20_000
"""Persons of a file that remedies are tried on as it is; of a larger one, so many are tried."""
HEAVIER = 10.0
"""So many times its weight is tried."""
DROPPED = 3
"""Other columns that are tried without: those with the most values."""
ALL = 1 - 1e-9
"""A share that is rounded as a sum of as many shares as there are records counts as all of them."""
HELPS = 0.9
"""A remedy is told if the column is hidden in fewer than this share of the records as before."""


@dataclass(frozen=True)
class Remedy:
    """What was tried for a lost column.

    Attributes
    ----------
    hidden
        Share of the records that then show nothing of the column.
    """

    words: str
    hidden: float
    ncp: float


@dataclass(frozen=True)
class LostColumn:
    """A column of which more than half of the records show nothing.

    Attributes
    ----------
    hidden
        Share of the records.
    ncp
        The certainty penalty of all quasi-identifiers in the trial that changes nothing.
    remedies
        What helps, best first; ``None`` where nothing was tried.
    """

    column: str
    hidden: float
    ncp: float
    remedies: tuple[Remedy, ...] | None = None

    def __str__(self) -> str:
        hidden = percent(self.hidden)
        said = f"Column '{self.column}' is lost: {hidden} of the records show nothing of it"
        if self.remedies is None:
            return f"{said}."
        if not self.remedies:
            return f"{said}; nothing that was tried saves it."
        tried = "; ".join(
            f"{remedy.words}: {percent(remedy.hidden)} ({percent(remedy.ncp)})"
            for remedy in self.remedies
        )
        lost = f"detail lost in quasi-identifiers: {percent(self.ncp)}"
        return f"{said} ({lost}). Tried: {tried}."


def nothing_left(hidden: Mapping[str, float]) -> str:
    """Names the columns of which no record shows anything, as a sentence; empty without any."""
    gone = [name for name, share in hidden.items() if share >= ALL]
    if not gone:
        return ""
    return Plural(
        "Column {columns} shows nothing in any record. ",
        "Columns {columns} show nothing in any record. ",
        len(gone),
        columns=listed(gone),
    )


_Trial = tuple[dict[str, float], float]
"""By column the share of records that show nothing of it, and the mean NCP."""


def lost_columns(
    table: Table, losses: Sequence[ColumnLoss], constraints: Sequence[Constraint], options: Options
) -> tuple[LostColumn, ...]:
    """Name the columns that a release has lost, and try what would save them.

    Each trial grows the tree again, on at most `TRIED_PERSONS` persons: with the column weighing
    more, with sets as released values, without one of the other columns, or with promises half as
    strict. Nothing is tried where no column is lost.
    """
    lost = named_only(losses)
    if not lost:
        return ()
    if options.ends is Ends.SNAPPED:
        table = with_snapped_ends(table, sets=options.values is Form.SET)
    some = _some(table)
    options = replace(options, cut=Cut.SEARCH, split=Split.BALANCE, effort=None)
    now = _tried(some, constraints, options)
    found, tried = [], dict[tuple[str, tuple[float, ...]], _Trial | None]()
    for lost_column in lost:
        remedies: list[Remedy] = []
        if now is not None:
            hidden = now[0]
            for words, changed, asked, how in _remedies(
                some, lost_column.column, constraints, options
            ):
                # What helps one column may be tried for another one, too.
                trial = words, tuple(column.weight for column in changed.quasi_identifiers)
                if trial not in tried:
                    tried[trial] = _tried(changed, asked, how)
                after = tried[trial]
                if (
                    after is not None
                    and after[0][lost_column.column] < HELPS * hidden[lost_column.column]
                ):
                    remedies.append(Remedy(words, after[0][lost_column.column], after[1]))
        remedies.sort(key=lambda remedy: (remedy.hidden, remedy.ncp))
        ncp = lost_column.ncp if now is None else now[1]
        found.append(LostColumn(lost_column.column, lost_column.hidden, ncp, tuple(remedies)))
    return tuple(found)


def named_only(losses: Sequence[ColumnLoss]) -> tuple[LostColumn, ...]:
    """The lost columns, the worst first, without anything tried."""
    lost = sorted((loss for loss in losses if loss.lost), key=lambda each: -each.hidden)
    return tuple(LostColumn(each.column, each.hidden, each.ncp) for each in lost)


def lost_events(utility: Utility) -> tuple[LostColumn, ...]:
    """The lost columns of events, where a promise is made about these."""
    hidden = {} if utility.histories is None else utility.histories.hidden
    return tuple(
        LostColumn(name, share, utility.ncp) for name, share in hidden.items() if share > 1 / 2
    )


def _remedies(
    table: Table, column: str, constraints: Sequence[Constraint], options: Options
) -> Iterator[tuple[str, Table, Sequence[Constraint], Options]]:
    """What may be tried: in words, with what table, promises and options."""
    columns = table.quasi_identifiers
    heavier = [
        replace(each, weight=each.weight * (HEAVIER if each.name == column else 1.0))
        for each in columns
    ]
    weight = next(each.weight for each in heavier if each.name == column)
    yield f"a weight of {weight:g}", _with(table, heavier), constraints, options
    own = next(each for each in columns if each.name == column)
    if own.kind is Kind.CATEGORICAL and options.values is not Form.SET:
        how = "sets as released values"
        snapped = options.ends is Ends.SNAPPED
        shown = with_snapped_ends(table, sets=True) if snapped else table
        yield how, shown, constraints, replace(options, values=Form.SET)
    others = sorted(
        (each for each in columns if each.name != column), key=lambda each: -each.domain.size
    )
    for other in others[:DROPPED]:
        left = [column for column in columns if column is not other]
        yield f"without column '{other.name}'", _with(table, left), constraints, options
    laxer = [_laxer(constraint) for constraint in constraints]
    if laxer != list(constraints):
        stated = ", ".join(
            f"{each.name} {each.threshold:g}" for each in laxer if isinstance(each, Promise)
        )
        yield f"with {stated}", table, laxer, options


def _laxer(promise: Constraint) -> Constraint:
    """The same promise, half as strict; as it is where that cannot be said."""
    if not isinstance(promise, Promise):
        return promise
    limit = declared(type(promise))[0].name
    value = getattr(promise, limit)
    if isinstance(value, int):
        changed: float = max(1, value // 2)
    elif promise.bound is Bound.AT_LEAST:
        # Of a share that has to be high, half as strict is twice as far from 1.
        changed = max(0.0, 1 - 2 * (1 - value))
    else:
        changed = min(1.0, 2 * value)
    others = {each.name: getattr(promise, each.name) for each in declared(type(promise))[1:]}
    named = getattr(promise, "attribute", None)
    return type(promise)(**{limit: changed, **others, **({"attribute": named} if named else {})})


def _with(table: Table, columns: Sequence[CodedColumn]) -> Table:
    return replace(table, quasi_identifiers=tuple(columns))


def _some(table: Table) -> Table:
    """The table, or that of every so many of its persons."""
    step = -(-table.persons // TRIED_PERSONS)
    # Spread over the file and not its first persons, since files are often sorted.
    return table if step == 1 else table.take(np.flatnonzero(table.person % step == 0))


def _tried(table: Table, constraints: Sequence[Constraint], options: Options) -> _Trial | None:
    """What a tree hides and loses; ``None`` where even one class of all breaks a promise."""
    persons = [person_table(table)]
    if not table.quasi_identifiers or unmet(persons[0].whole(), constraints):
        return None
    partition = partition_of_persons(table, persons, constraints, options, whole=True)
    class_of = partition.class_of_person[table.person]
    released, merged, classes = generalised(table, class_of, partition.classes, options.form)
    class_of = merged[class_of]
    sizes, hidden, penalties = np.bincount(class_of, minlength=classes), {}, []
    for column in table.quasi_identifiers:
        leaves = released[column.name][0].leaves
        penalty = certainty_penalty(column, class_of, classes, leaves, options.form)
        hidden[column.name] = float((penalty > WHOLE) @ sizes) / table.records
        penalties.append(float(penalty @ sizes) / table.records)
    return hidden, float(np.mean(penalties))
