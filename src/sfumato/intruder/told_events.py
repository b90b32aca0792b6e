"""What an intruder may be told of persons' events: the columns, and how exactly he knows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sfumato.hierarchies.builders import build_hierarchy
from sfumato.intruder.attack_options import Shares
from sfumato.intruder.attacks.event_matching import EventValues, PersonEvents
from sfumato.intruder.knowledge import Knowledge, KnownColumn
from sfumato.intruder.reading import Above, ReleasedFile, above_from_file, above_from_prefixes
from sfumato.intruder.released_syntax import Vocabulary
from sfumato.schema import Event, EventKind, PrefixHierarchy, Schema


def event_names(schema: Schema, file: ReleasedFile, known: Knowledge) -> tuple[str, ...]:
    """The columns of events that the release shows and the original has.

    Where the schema names none, all sensitive and insensitive ones that change within a person.

    Parameters
    ----------
    schema
        What each column is.
    file
        The released file.
    known
        The original, all its columns.
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
    last = np.empty(known.persons, dtype=np.int64)
    last[known.person] = column.codes
    return bool((last[known.person] != column.codes).any())


def person_events(schema: Schema, file: ReleasedFile, known: Knowledge) -> PersonEvents | None:
    """The events of the persons of the original; ``None`` where no column tells any.

    Parameters
    ----------
    schema, file, known
        As in `event_names`.
    """
    names = event_names(schema, file, known) if file.person is not None else ()
    held = {column.name: column for column in known.others}
    columns = tuple(_values(held[name], schema.events.get(name, Event())) for name in names)
    return PersonEvents(known.person, columns) if columns else None


def _values(column: KnownColumn, event: Event) -> EventValues:
    alike = np.arange(len(column.texts), dtype=np.int64)
    texts = [text for text in column.texts if text is not None]
    if event.level and event.hierarchy is not None:
        above = build_hierarchy(event.hierarchy, texts, column.name).ancestors[event.level]
        known = np.array([text is not None for text in column.texts])
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


def _above(event: Event, texts: Sequence[str], name: str) -> Above:
    if isinstance(event.hierarchy, Path):
        return above_from_file(event.hierarchy, name)[1]
    if isinstance(event.hierarchy, PrefixHierarchy):
        return above_from_prefixes(event.hierarchy, texts)
    return {}


def with_mistakes(
    events: PersonEvents | None, shares: Shares
) -> tuple[PersonEvents | None, Shares]:
    """The events, some wrong where they are told, and the shares of wrong quasi-identifiers.

    Parameters
    ----------
    events
        The events.
    shares
        The share of everything that is wrong, or shares by column.
    """
    if events is None or not isinstance(shares, Mapping):
        wrong = 0.0 if isinstance(shares, Mapping) else shares
        return events and replace(events, wrong=wrong), shares
    own = [shares[name] for name in events.names if name in shares]
    others = {name: share for name, share in shares.items() if name not in events.names}
    return replace(events, wrong=max(own, default=0.0)), others
