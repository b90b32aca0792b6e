"""Persons of whom events are known: how the search for them is judged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.core.number_text import counted, share_text
from sfumato.core.phrases import Phrase
from sfumato.intruder.attacks.scene import TARGETS, Act, Scene, Staged
from sfumato.intruder.guesses import event_matching

# The claims that they are held against are `found_1` to `found_3`.
TOLD, SCORED = (1, 2, 3), (2, 3)
"""Numbers of events that an intruder is told, and those with which the score is tried."""
MOST_KNOWN = 2
"""Records that the insider of a verdict knows."""
# Each takes a score of every released person: fewer can be afforded than of exact search.
SCORED_TARGETS = 300
"""Persons who are looked for by a score, drawn where there are more."""


_HOW = {
    "events": Phrase("takes one of the pseudonyms that fit all of it"),
    "events_scored": Phrase("takes the pseudonym that agrees with most, rare things counting more"),
    "events_moved": Phrase("takes the pseudonym that fits by most offsets of all its dates"),
}


def events(scene: Scene) -> Iterator[Staged]:
    """Look for persons of whom some events are known, exactly, by a score, and with dates moved.

    Held against the share of persons who are found by as many events drawn at random.
    """
    if scene.events is None:
        return
    told_of = scene.events
    search = event_matching.EventSearch(scene.file, told_of)
    inside = np.flatnonzero(scene.truth.released)

    ways = [("events", TOLD, TARGETS), ("events_scored", SCORED, SCORED_TARGETS)]
    if search.moved is not None:
        ways.append(("events_moved", TOLD, TARGETS))
    for way, numbers, most in ways:
        for m in numbers:
            name = f"{way}_{m}"
            rng = scene.rng(name)
            targets = np.sort(rng.permutation(inside)[:most])
            told = told_of.told(targets, m, rng)
            if way == "events_scored":
                guesses = event_matching.scored_events(
                    search, scene.file, scene.knowledge, targets, told, rng
                )
            else:
                moved = way == "events_moved"
                guesses = event_matching.exact_events(
                    search, scene.candidates, targets, told, rng, moved=moved
                )
            known = counted(m, "event")
            if told_of.wrong:
                known = Phrase(
                    "{events}, {share} of them wrong,",
                    events=known,
                    share=share_text(told_of.wrong),
                )
            yield scene.judged(
                name,
                Phrase(
                    "The intruder knows the quasi-identifiers and {events} of a person who is in "
                    "the file, and {how}.",
                    events=known,
                    how=_HOW[way],
                ),
                guesses,
                f"found_{m}",
                targeted=True,
                column=" + ".join(told_of.names),
                knows_more=m > MOST_KNOWN or scene.knowledge.counts is not None,
            )


def _events(scene: Scene) -> str:
    if scene.file.person is None:
        return "a person column in the released file"
    return "" if scene.events is not None else "an original that has the columns of events"


ACT = Act("events", 50, "insider", events, _events)
