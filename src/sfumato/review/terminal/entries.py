"""What stands in a journal: its beginning, then one entry for each thing that happened."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sfumato.core.errors import InputError
from sfumato.review.decisions.answers import Answer
from sfumato.review.decisions.events import Event, EventKind, FlagReason
from sfumato.review.settings import Settings

FORMAT = 1


class Did(StrEnum):
    """What an entry is about that is no event of a decision."""

    SHOWN = "shown"
    """A pair was shown, or more of it; with its modes afterwards."""
    BUDGET = "budget"
    """Another budget holds from here on."""


@dataclass(frozen=True)
class Beginning:
    """The first line of a journal: whose it is, and what holds for all of it.

    Attributes
    ----------
    worker
        The pseudonym.
    settings
        The rules.
    pairs
        Ids of the pairs of the task, in the order in which they are shown.
    records
        SHA-256 of the records.
    """

    worker: str
    settings: Settings
    pairs: tuple[str, ...]
    records: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A pair was shown, or more of it.

    Attributes
    ----------
    pair
        Its id.
    modes
        The mode of each attribute afterwards, as digits.
    time
        When.
    """

    pair: str
    modes: str
    time: datetime


@dataclass(frozen=True, slots=True)
class NewBudget:
    """Another budget holds from here on; what was spent stays spent.

    Attributes
    ----------
    budget
        In KAPR; ``None`` for no limit.
    time
        When.
    """

    budget: float | None
    time: datetime


Entry = Shown | NewBudget | Event
"""One thing that happened."""


def beginning_text(beginning: Beginning) -> str:
    """The first line of a journal; no value of the data.

    Parameters
    ----------
    beginning
        What it says.
    """
    return json.dumps(
        {
            "sfumato review": FORMAT,
            "worker": beginning.worker,
            "settings": beginning.settings.model_dump(mode="json"),
            "records": beginning.records,
            "pairs": list(beginning.pairs),
        }
    )


def read_beginning(text: str) -> Beginning:
    """What the first line of a journal says.

    Parameters
    ----------
    text
        The line.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        fields = json.loads(text)
        if fields["sfumato review"] == FORMAT:
            pairs = tuple(map(str, fields["pairs"]))
            settings = Settings(**fields["settings"])
            return Beginning(str(fields["worker"]), settings, pairs, str(fields["records"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise InputError("the journal of a review", "must begin as one", found="another file")


def entry_text(entry: Entry) -> str:
    """An entry as a line of a journal; no value of the data.

    Parameters
    ----------
    entry
        What happened.
    """
    fields: dict[str, Any] = {"time": entry.time.isoformat()}
    if isinstance(entry, NewBudget):
        fields |= {"did": Did.BUDGET.value, "budget": entry.budget}
    elif isinstance(entry, Shown):
        fields |= {"did": Did.SHOWN.value, "pair": entry.pair, "modes": entry.modes}
    else:
        fields |= {"did": entry.kind.value, "pair": entry.pair}
        if entry.answer is not None:
            fields["answer"] = int(entry.answer)
        if entry.reason is not None:
            fields["reason"] = entry.reason.value
    return json.dumps(fields)


def read_entry(text: str, worker: str) -> Entry | None:
    """What a line of a journal says; ``None`` where it says nothing that is known.

    Parameters
    ----------
    text
        The line.
    worker
        The pseudonym of the journal.
    """
    try:
        return _entry(json.loads(text), worker)
    except (InputError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _entry(fields: Mapping[str, Any], worker: str) -> Entry:
    time, did = datetime.fromisoformat(fields["time"]), fields["did"]
    if did == Did.BUDGET.value:
        budget = Settings(budget=fields["budget"]).budget
        return NewBudget(budget, time)
    if did == Did.SHOWN.value:
        return Shown(str(fields["pair"]), str(fields["modes"]), time)
    answer, reason = fields.get("answer"), fields.get("reason")
    return Event(
        str(fields["pair"]),
        worker,
        EventKind(did),
        time,
        None if answer is None else Answer(answer),
        None if reason is None else FlagReason(reason),
    )
