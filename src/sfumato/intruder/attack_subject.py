"""What is attacked, and what the intruder holds of it, from its files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.arrays import Ints
from sfumato.core.declaration import LayoutGiven
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.hierarchies.builders import build_hierarchy
from sfumato.intruder import reading
from sfumato.intruder.attack_options import Shares
from sfumato.intruder.attack_result import Claims, claims_of_release
from sfumato.intruder.guesses.event_matching import EventValues, PersonEvents
from sfumato.intruder.knowledge import (
    Knowledge,
    KnownColumn,
    days_of,
    everybody,
    hold,
    read_texts,
    with_noise,
)
from sfumato.intruder.referee import judgements
from sfumato.intruder.released_syntax import Exact, Vocabulary
from sfumato.release.release_result import Release
from sfumato.risk.verdict import Acceptance, Verdict
from sfumato.schema import Event, EventKind, PrefixHierarchy, Schema
from sfumato.table.preparation import prepared_in_part
from sfumato.table.table_files import open_source


@dataclass(frozen=True, eq=False)
class Subject:
    """What is attacked.

    Attributes
    ----------
    shown
        The released file: all that the intruder is given of it.
    schema
        What each column of the original is; ``None`` where nobody says it.
    original
        The file that was released, where it is at hand.
    register
        The data that somebody who asked for the release holds, where it is at hand.
    source_rows
        Row of the original of each released record, where it is known.
    claims
        What the release says of itself; ``None`` where it says nothing.
    verdict, accepted
        What four intruders find in it, where it measured that, and who answers for it.
    """

    shown: Any
    schema: Schema | None = None
    original: Any = None
    register: Any = None
    source_rows: Ints | None = None
    claims: Claims | None = None
    verdict: Verdict | None = None
    accepted: tuple[Acceptance, ...] = ()


def subject_of(release: Any) -> Subject:
    """What is attacked, a release, a file or a dataframe, and what it says of itself."""
    if isinstance(release, Release):
        return Subject(
            shown=release.table,
            schema=release.schema,
            original=release.original,
            source_rows=release.source_rows,
            claims=claims_of_release(release),
            verdict=release.verdict,
            accepted=release.accepted,
        )
    if type(release).__module__.startswith("sfumato.semantics"):
        return _linked(release)
    return Subject(shown=release)


def _linked(release: Any) -> Subject:
    """A release of linked data: on request (SLA), or under linkage anonymity alone (LA)."""
    from sfumato.semantics.linkage_anonymity import LinkageRelease
    from sfumato.semantics.requested_release import RequestedRelease

    if isinstance(release, RequestedRelease):
        return Subject(
            shown=release.table,
            schema=release.asked.schema,
            original=release.asked.data,
            register=next(iter(release.asked.local.values())),
            source_rows=release.source_rows,
            claims=_linkage_claims(release.figures["SLA"].risk, release.k),
        )
    if isinstance(release, LinkageRelease):
        return Subject(
            shown=release.table,
            schema=release.linked.table.schema,
            original=release.original,
            source_rows=release.source_rows,
            claims=_linkage_claims(release.measured.risk.value, release.k),
        )
    return Subject(shown=release)


def _linkage_claims(risk: float, k: int) -> Claims:
    """The mean over linked individuals of 1 / matching individuals, and at most 1 / k for each.

    That is about somebody who holds local data; nothing is claimed about an acquaintance, who knows
    who is among the linked.
    """
    mean, most = Measure("linkage_risk", risk), Measure("linkage_k", 1 / k)
    return Claims({}, own=True, against_register={"marketer": mean, "journalist": most})


SAME_ORDER = "same-order"
"""The word for a released file whose records are in the order of the original's."""
ROW, PERSON = "row", "person"
"""Columns of a truth file: number of a released record from 1, id of its person."""


@dataclass(frozen=True, eq=False)
class People:
    """The rows of a register, or of an original, and whose they are, shape (rows,).

    Ids stand in order of appearance; they are row numbers where there is no person column.
    """

    ids: tuple[str, ...]
    person: Ints
    named: bool
    values: dict[str, judgements.PersonValues]


def people_of(data: Any, schema: Schema) -> People:
    """Read whose the rows are, and their sensitive values where the file has them."""
    source = prepared_in_part(open_source(data), schema)
    named = schema.person is not None and schema.person in source.names
    sensitive = [name for name in schema.sensitive if name in source.names]
    # Without person ids any column tells how many rows there are.
    first = [str(schema.person)] if named else [source.names[0]]
    read = read_texts(source, list(dict.fromkeys([*first, *sensitive])), schema.missing)
    rows = len(read[first[0]].codes)
    ids, person = tuple(str(row + 1) for row in range(rows)), np.arange(rows, dtype=np.int64)
    if named:
        person = everybody(read[first[0]], first[0], source.subject)
        ids = tuple(str(text) for text in read[first[0]].texts)
    values = {}
    for name in sensitive:
        column = read[name]
        values[name] = judgements.person_values(
            person, [column.texts[code] for code in column.codes.tolist()]
        )
    return People(ids, person, named, values)


def by_source_rows(
    rows: Ints, original: People, register: People, knowledge: Knowledge
) -> judgements.Truth:
    """The truth from the row of the original that each released record came from.

    Of those in the release what counts is what it says of them, sensitive values being released
    unchanged; the values of the others are those of the register.

    Parameters
    ----------
    rows
        Row of the original, from 0, of each released record, shape (records,).
    register
        Whose those of the register are; the same object where the register is the original.
    """
    if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < len(original.person):
        raise InputError("the original", "must be the file that was released", found="another size")
    if register is original:
        truth = judgements.owned_by_row(rows, knowledge.person, knowledge.persons)
        return _of_others(truth, register)
    # Persons of two files have nothing in common but their ids.
    if not (original.named and register.named):
        raise InputError(
            "the register",
            "must have the schema's person column, as the original must",
            found="rows without person ids",
            advice="give the truth as a file with columns row and person",
        )
    owners = original.person[rows]
    truth = judgements.owned_by_id([original.ids[owner] for owner in owners], register.ids)
    return _of_others(truth, register)


def _of_others(truth: judgements.Truth, register: People) -> judgements.Truth:
    """The truth with the sensitive values of those outside the release."""
    values = {}
    for name, value in register.values.items():
        outside = ~truth.released[value.person]
        values[name] = replace(value, person=value.person[outside], codes=value.codes[outside])
    return replace(truth, values=values)


def by_given(
    truth: Any, records: int, original: People | None, register: People, missing: Sequence[str] = ()
) -> judgements.Truth:
    """The truth that somebody states.

    Parameters
    ----------
    truth
        ``"same-order"``; the path of a file with columns ``row`` and ``person``; or one person id
        per released record, ``None`` where nobody knows.
    original
        Whose the rows of the original are, where there is one.
    """
    if isinstance(truth, str) and truth == SAME_ORDER:
        return _same_order(records, original or register, register)
    if isinstance(truth, (str, os.PathLike)):
        return judgements.owned_by_id(
            _from_file(truth, records, missing), register.ids, register.values
        )
    ids = [None if each is None else str(each) for each in truth]
    if len(ids) != records:
        raise InputError(
            "parameter truth",
            "must name a person for each released record",
            found=f"{len(ids):,}",
            accepted=f"{records:,}",
        )
    return judgements.owned_by_id(ids, register.ids, register.values)


def _same_order(records: int, original: People, register: People) -> judgements.Truth:
    if records > len(original.person):
        raise InputError(
            "the truth",
            "cannot be the same order where the release has more records",
            found=f"{records:,} released and {len(original.person):,} others",
        )
    owners = original.person[:records]
    if register is original:
        return judgements.owned(owners, len(register.ids), register.values)
    return judgements.owned_by_id(
        [original.ids[owner] for owner in owners], register.ids, register.values
    )


def _from_file(path: Any, records: int, missing: Sequence[str]) -> list[str | None]:
    source = open_source(path)
    for name in (ROW, PERSON):
        if name not in source.names:
            raise InputError(
                source.subject,
                f"must have columns '{ROW}' and '{PERSON}' to say whose each record is",
                found=f"no column '{name}'",
            )
    read = read_texts(source, [ROW, PERSON], missing)
    rows, persons = read[ROW], read[PERSON]
    ids: list[str | None] = [None] * records
    # 0 is the number of no record: what is no number is refused below with what is out of range.
    numbers = [int(text) if text is not None and text.isdecimal() else 0 for text in rows.texts]
    for place, (row, person) in enumerate(
        zip(rows.codes.tolist(), persons.codes.tolist(), strict=True), 1
    ):
        if not 1 <= numbers[row] <= records:
            raise InputError(
                f"column '{ROW}' of {source.subject}",
                "must number the released records",
                found=f"something else in row {place}",
                accepted=f"1 to {records}",
            )
        ids[numbers[row] - 1] = persons.texts[person]
    return ids


CLASS = "class"
"""The one quasi-identifier of a file that is its own original."""


@dataclass(frozen=True, eq=False)
class Given:
    """What was given beside the released file.

    Attributes
    ----------
    register, original, truth
        As they were passed in; ``None`` where they were not.
    source_rows
        Row of the original of each released record, where the release says it.
    knows
        The quasi-identifiers that the intruder knows; all where ``None``.
    counts
        Whether the intruder knows how many records each person has in the release.
    noise, missing
        Share of wrong, and of unknown, values.
    layout
        How the released file is laid out, as far as it is given.
    review
        The folder of a clerical review whose screens are attacked too, or ``None``.
    """

    register: Any
    original: Any
    truth: Any
    source_rows: Ints | None
    schema: Schema
    knows: Sequence[str] | None = None
    counts: bool = False
    noise: Shares = 0.0
    missing: Shares = 0.0
    hierarchies: Mapping[str, str | Path] | None = None
    layout: LayoutGiven = field(default_factory=LayoutGiven)
    priors: tuple[Any, ...] = ()
    review: Path | None = None


@dataclass(frozen=True, eq=False)
class Held:
    """The released file, what the intruder holds, and the truth.

    Attributes
    ----------
    exact
        The same without errors.
    truth
        Whose each record is; for the referee.
    events
        The events of the persons of the original; ``None`` where nothing tells any.
    whole
        The file with all its columns, where ``file`` is its own original and has lost them.
    """

    file: reading.ReleasedFile
    knowledge: Knowledge
    exact: Knowledge
    truth: judgements.Truth
    itself: bool
    events: PersonEvents | None = None
    whole: reading.ReleasedFile | None = None


def held_against(shown: Any, given: Given, rng: np.random.Generator) -> Held:
    """Read the released file and what the intruder holds, some of it wrong."""
    if given.register is None and given.original is None:
        return _itself(shown, given)
    schema = given.schema
    source = given.original if given.register is None else given.register
    register = people_of(source, schema)
    known = hold(source, schema, knows=given.knows)
    whole = known = _with_ids(known, register, schema)
    if given.register is None:
        known = _of_an_acquaintance(known, schema)
    # Read before errors are drawn: how a cell is read must not depend on them.
    file = reading.read_release(
        shown, schema, **given.layout, hierarchies=given.hierarchies, known=known
    )
    truth = _truth(file, given, register, known)
    if given.counts:
        known = replace(known, counts=_counts(known, truth))
    # Events are those of the whole file: an acquaintance's columns leave them out until they are
    # told.
    events, noise = with_mistakes(person_events(schema, file, whole), given.noise)
    noisy = with_noise(known, noise, given.missing, rng)
    return Held(file, noisy, known, truth, itself=False, events=events)


def _itself(shown: Any, given: Given) -> Held:
    """A file of which nothing else is had: everybody in it is known by the class they are in."""
    if given.truth is not None and given.truth != SAME_ORDER:
        raise InputError(
            "parameter truth",
            "must name people of an original or register",
            found="neither of the two",
            advice="give one, or leave the truth out: the file is then its own original",
        )
    if given.source_rows is not None:
        raise InputError(
            "parameter original",
            "must be given, for the release was made from a file and does not hold it",
            advice="give its path",
        )
    if given.knows is not None or given.noise or given.missing:
        raise InputError(
            "what the intruder knows",
            "can be changed only where there is an original or a register",
            found="none",
        )
    schema = given.schema
    file = reading.read_release(shown, schema, **given.layout, hierarchies=given.hierarchies)
    labels = tuple(f"{number}" for number in range(file.classes))
    column = reading.ReadColumn(CLASS, tuple(Exact(label) for label in labels), file.class_of)
    # Numbers of classes have no order: without numbers they are compared as words.
    nowhere = np.full(file.classes, np.nan)
    # Of itself a file knows every column: that one finds people is a finding of identifiers alone.
    direct = [column for column in file.others if column.name in schema.direct_identifiers]
    knowledge = Knowledge(
        persons=file.persons,
        person=file.unit,
        quasi_identifiers=(KnownColumn(CLASS, labels, nowhere, file.class_of),),
        others=tuple(
            KnownColumn(each.name, each.texts, np.full(len(each.texts), np.nan), each.codes)
            for each in direct
        ),
        counts=np.bincount(file.unit, minlength=file.persons) if given.counts else None,
    )
    alone = replace(file, quasi_identifiers=(column,), others=tuple(direct))
    truth = judgements.owned_by_row(np.arange(file.records), file.unit, file.persons)
    return Held(alone, knowledge, knowledge, truth, itself=True, whole=file)


def _with_ids(known: Knowledge, register: People, schema: Schema) -> Knowledge:
    """The ids of the register's persons are known as any other column."""
    if not register.named:
        return known
    nowhere = np.full(len(register.ids), np.nan)
    ids = KnownColumn(str(schema.person), register.ids, nowhere, register.person)
    return replace(known, others=(*known.others, ids))


def _of_an_acquaintance(known: Knowledge, schema: Schema) -> Knowledge:
    """Of the original an acquaintance knows what identifies; not what the release tells."""
    told = {*schema.direct_identifiers, schema.person, schema.household}
    return replace(known, others=tuple(column for column in known.others if column.name in told))


def _truth(
    file: reading.ReleasedFile, given: Given, register: People, known: Knowledge
) -> judgements.Truth:
    original: People | None = register
    if given.register is not None:
        original = None
        if given.original is not None:
            original = people_of(given.original, given.schema)
    if given.truth is not None:
        return by_given(given.truth, file.records, original, register, given.schema.missing)
    if given.source_rows is not None and original is not None:
        return by_source_rows(given.source_rows, original, register, known)
    truth = _by_kept_ids(file, register, given.schema)
    if truth is None:
        raise InputError(
            "parameter truth",
            "must say whose each released record is",
            found="a file that does not tell",
            accepted='"same-order", or a file with columns row and person',
            advice="or attack a Release, or leave original and register out",
        )
    return truth


def _by_kept_ids(
    file: reading.ReleasedFile, register: People, schema: Schema
) -> judgements.Truth | None:
    """The truth of a file that kept the ids of its persons."""
    # Pseudonyms may look like ids: they are the register's only if all of them are in it.
    ids = next((column for column in file.others if column.name == schema.person), None)
    if ids is None or not register.named or not set(ids.texts) <= set(register.ids):
        return None
    return judgements.owned_by_id(
        [ids.texts[code] for code in ids.codes], register.ids, register.values
    )


def _counts(known: Knowledge, truth: judgements.Truth) -> Ints:
    """Records of each person in the release; of others, their rows in the register."""
    rows = np.bincount(known.person, minlength=known.persons)
    inside = truth.owner[truth.owner >= 0]
    return np.where(truth.released, np.bincount(inside, minlength=known.persons), rows)


def event_names(schema: Schema, file: reading.ReleasedFile, known: Knowledge) -> tuple[str, ...]:
    """The columns of events that the release shows and the original has.

    Where the schema names none, all sensitive and insensitive ones that change within a person.
    """
    shown = {column.name for column in (*file.sensitive, *file.others)}
    told = (*schema.sensitive, *schema.insensitive)
    names = schema.events or told
    held = {column.name: column for column in known.others}
    return tuple(
        name
        for name in names
        if name in shown and name in told and name in held
        and (schema.events or _changes(held[name], known))
    )  # fmt: skip


def _changes(column: KnownColumn, known: Knowledge) -> bool:
    # Who has two values differs in some row from the one that was written last.
    last = np.empty(known.persons, dtype=np.int64)
    last[known.person] = column.codes
    return bool((last[known.person] != column.codes).any())


def person_events(
    schema: Schema, file: reading.ReleasedFile, known: Knowledge
) -> PersonEvents | None:
    """The events of the persons of the original; ``None`` where no column tells any."""
    names = event_names(schema, file, known) if file.person is not None else ()
    held = {column.name: column for column in known.others}
    shown = {column.name: column for column in (*file.sensitive, *file.others)}
    columns, first = [], None
    for name in names:
        event = schema.events.get(name, Event())
        # A release that shows one date may write the others as days after it.
        if event.kind is EventKind.DATE and first is not None and not _shows_dates(shown[name]):
            columns.append(_days_after(held[first], held[name], schema.events[first], event))
        else:
            columns.append(_values(held[name], event))
        if event.kind is EventKind.DATE:
            first = first or name
    return PersonEvents(known.person, tuple(columns)) if columns else None


def _shows_dates(column: reading.TextColumn) -> bool:
    return any(text is not None and days_of(text) is not None for text in column.texts)


def _days_after(first: KnownColumn, other: KnownColumn, *events: Event) -> EventValues:
    """The second date of each row as days after the first, which is what the release shows."""
    begun, ended = (np.floor(each.numbers[each.codes]) for each in (first, other))
    numbers, codes = np.unique(ended - begun, return_inverse=True)
    texts = tuple(f"{number:g}" if np.isfinite(number) else None for number in numbers)
    column = KnownColumn(other.name, texts, numbers, codes.astype(np.int64))
    # Both dates may be known wrongly: the errors of their difference add up.
    off = np.full(len(texts), float(sum(event.days for event in events)))
    words = Vocabulary(measured=True, values=frozenset(text for text in texts if text is not None))
    return EventValues(column, np.arange(len(texts)), off, words)


def _values(column: KnownColumn, event: Event) -> EventValues:
    alike = np.arange(len(column.texts), dtype=np.int64)
    texts = [text for text in column.texts if text is not None]
    if event.level and event.hierarchy is not None:
        above = build_hierarchy(event.hierarchy, texts, column.name).ancestors[event.level]
        known = np.array([text is not None for text in column.texts])
        # All values that are not known are alike, and like no label.
        alike[known] = above
        alike[~known] = above.max(initial=-1) + 1
    off = np.full(len(column.texts), float(event.days))
    if event.share:
        off = np.abs(np.nan_to_num(column.numbers)) * event.share
    measured = event.kind in (EventKind.DATE, EventKind.AMOUNT)
    words = Vocabulary(
        measured=measured,
        dates=event.kind is EventKind.DATE,
        values=frozenset(texts),
        above=_above(event, texts, column.name),
    )
    return EventValues(column, alike, off, words)


def _above(event: Event, texts: Sequence[str], name: str) -> reading.Above:
    if isinstance(event.hierarchy, Path):
        return reading.above_from_file(event.hierarchy, name)[1]
    if isinstance(event.hierarchy, PrefixHierarchy):
        return reading.above_from_prefixes(event.hierarchy, texts)
    return {}


def with_mistakes(
    events: PersonEvents | None, shares: Shares
) -> tuple[PersonEvents | None, Shares]:
    """The events, some wrong where they are told, and the shares of wrong quasi-identifiers.

    They are one share of everything, or shares by column.
    """
    if events is None or not isinstance(shares, Mapping):
        wrong = 0.0 if isinstance(shares, Mapping) else shares
        return events and replace(events, wrong=wrong), shares
    # An event is told as a whole: one share holds for all its columns, the largest.
    own = [shares[name] for name in events.names if name in shares]
    others = {name: share for name, share in shares.items() if name not in events.names}
    return replace(events, wrong=max(own, default=0.0)), others
