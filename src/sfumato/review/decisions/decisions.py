"""All that happened in a project, and what holds at present."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from sfumato.review.decisions.answers import Answer
from sfumato.review.decisions.events import OF_MANAGERS, Event
from sfumato.review.decisions.history import History, Present


@dataclass(frozen=True)
class Decisions:
    """All events of a project, in the order in which they happened.

    Parameters
    ----------
    events
        The events; those of one pair and worker are a history.
    """

    events: tuple[Event, ...] = ()

    @classmethod
    def of(cls, histories: Iterable[History]) -> Decisions:
        """The events of some histories, in the order of time.

        Parameters
        ----------
        histories
            The histories, at most one per pair and worker.
        """
        events = [event for history in histories for event in history.events]
        return cls(tuple(sorted(events, key=lambda event: event.time)))

    @cached_property
    def histories(self) -> Mapping[tuple[str, str], History]:
        """The history of each pair with each worker or manager.

        Raises
        ------
        InputError
            If some events cannot follow one another.
        """
        apart: dict[tuple[str, str], list[Event]] = {}
        for event in self.events:
            apart.setdefault((event.pair, event.worker), []).append(event)
        return {key: History(*key, tuple(events)) for key, events in apart.items()}

    def history(self, pair: str, worker: str) -> History:
        """The history of a pair with a worker; an empty one where nothing has happened.

        Parameters
        ----------
        pair
            The pair's id.
        worker
            The worker's pseudonym.
        """
        return self.histories.get((pair, worker), History(pair, worker))

    @cached_property
    def present(self) -> Mapping[tuple[str, str], Present]:
        """What holds of each pair with each of its workers; managers are left out."""
        return {
            key: history.present
            for key, history in self.histories.items()
            if history.events[0].kind not in OF_MANAGERS
        }

    @cached_property
    def answers(self) -> Mapping[str, Mapping[str, Answer]]:
        """By pair, the answers of its workers that stand; pairs without one are left out."""
        standing: dict[str, dict[str, Answer]] = {}
        for (pair, worker), now in self.present.items():
            if now.answer is not None:
                standing.setdefault(pair, {})[worker] = now.answer
        return standing

    @cached_property
    def resolutions(self) -> Mapping[str, tuple[str, Answer]]:
        """By pair, who resolved it and the answer that stands; of several managers' the latest."""
        standing: dict[str, dict[str, Answer]] = {}
        for event in self.events:
            if event.kind in OF_MANAGERS:
                of_pair = standing.setdefault(event.pair, {})
                of_pair.pop(event.worker, None)
                if event.answer is not None:
                    of_pair[event.worker] = event.answer
        return {pair: list(of_pair.items())[-1] for pair, of_pair in standing.items() if of_pair}
