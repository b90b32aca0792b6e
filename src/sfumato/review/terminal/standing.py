"""What a journal's entries come to: a worker's state and the histories of the pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sfumato.core.errors import InputError
from sfumato.review.decisions.events import Event
from sfumato.review.decisions.history import History
from sfumato.review.state.combined import CombinedState
from sfumato.review.state.facts import Modes
from sfumato.review.state.review import Review
from sfumato.review.state.worker import WorkerState
from sfumato.review.terminal.entries import Beginning, Entry, NewBudget, Shown

_SUBJECT = "the journal of a review"


def modes_text(modes: Modes) -> str:
    """The modes of a pair as digits.

    Parameters
    ----------
    modes
        Per attribute.
    """
    return "".join(str(int(mode)) for mode in modes)


def budget_of(beginning: Beginning, entries: Sequence[Entry]) -> float | None:
    """The budget that holds at the end of a journal.

    Parameters
    ----------
    beginning
        Its first line.
    entries
        Its other lines.
    """
    changed = [entry.budget for entry in entries if isinstance(entry, NewBudget)]
    return changed[-1] if changed else beginning.settings.budget


def restored(
    review: Review,
    number_of: Mapping[str, int],
    beginning: Beginning,
    entries: Sequence[Entry],
    combined: CombinedState | None = None,
) -> tuple[WorkerState, dict[str, History]]:
    """A worker's state and the histories of the pairs, from a journal.

    Parameters
    ----------
    review
        The pairs and the rules.
    number_of
        By id, the number of each of the review's pairs.
    beginning
        The first line of the journal.
    entries
        Its other lines.
    combined
        What all workers have been shown; this one's is added.

    Raises
    ------
    InputError
        If the journal is not of this review, or shows less of a pair than before.
    """
    task = {pair: number_of.get(pair) for pair in beginning.pairs}
    if None in task.values() or any(
        entry.pair not in task for entry in entries if not isinstance(entry, NewBudget)
    ):
        raise InputError(_SUBJECT, "must be of its pairs", found="another one")
    state = {
        "pairs": list(task.values()),
        "rows": 2 * len(task),
        "modes": {str(task[pair]): modes for pair, modes in _shown(entries).items()},
    }
    worker = WorkerState.restored(review, state, combined)
    return worker, histories(beginning.worker, entries)


def _shown(entries: Sequence[Entry]) -> dict[str, str]:
    shown: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry, Shown):
            before = shown.get(entry.pair, entry.modes)
            if len(before) != len(entry.modes) or any(map(_less, entry.modes, before)):
                raise InputError(_SUBJECT, "must never show less of a pair than before")
            shown[entry.pair] = entry.modes
    return shown


def _less(one: str, other: str) -> bool:
    return one < other


def histories(worker: str, entries: Sequence[Entry]) -> dict[str, History]:
    """What happened to each pair.

    Parameters
    ----------
    worker
        The pseudonym.
    entries
        The lines of the worker's journal behind the first.

    Raises
    ------
    InputError
        If some events cannot follow one another.
    """
    events: dict[str, list[Event]] = {}
    for entry in entries:
        if isinstance(entry, Event):
            events.setdefault(entry.pair, []).append(entry)
    return {pair: History(pair, worker, tuple(own)) for pair, own in events.items()}


def check_same(beginning: Beginning, ids: Sequence[str], records: str, name: str) -> None:
    """Refuse a journal of other records or pairs.

    Parameters
    ----------
    beginning
        Its first line.
    ids
        Ids of the pairs to review.
    records
        SHA-256 of the records.
    name
        The journal's file.

    Raises
    ------
    InputError
        If it is of others.
    """
    if beginning.records != records or set(beginning.pairs) != set(ids):
        raise InputError(
            f"file {name}",
            "must be of the folder's records and pairs",
            found="a review of others",
            advice="review a linkage that was made again in a folder of its own",
        )
