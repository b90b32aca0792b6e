"""What holds of a pair after any events, what is refused, and the file of all events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.review.review_decisions import (
    Answer,
    Confidence,
    Decisions,
    Event,
    EventKind,
    FlagReason,
    History,
    Present,
    present_of,
)

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
EMPTY = History("p1", "ann")


def at(minute: int) -> datetime:
    """Some minutes past noon."""
    return NOON + timedelta(minutes=minute)


def test_six_answers_as_the_literature_words_them() -> None:
    """No middle, two sides, three confidences."""
    assert [int(answer) for answer in Answer] == [-3, -2, -1, 1, 2, 3]
    assert Answer(-3).words == "Different, high confidence"
    assert Answer(1).words == "Same, low confidence"
    assert [answer.same for answer in Answer] == [False] * 3 + [True] * 3
    assert Answer.SAME_MEDIUM.confidence is Confidence.MEDIUM


def test_a_history_is_kept_whole() -> None:
    """Every change stays to be seen."""
    history = (
        EMPTY.skip(at(0))
        .decide(Answer.SAME_LOW, at(1))
        .decide(Answer.DIFFERENT_HIGH, at(2))
        .flag(FlagReason.BROKEN, at(3))
        .withdraw(at(4))
        .remove_flag(at(5))
        .decide(Answer.SAME_HIGH, at(6))
    )
    assert [event.kind.value for event in history.events] == [
        "skipped",
        "decided",
        "changed",
        "flagged",
        "withdrawn",
        "flag removed",
        "decided",
    ]
    assert history.present == Present(Answer.SAME_HIGH, since=at(6), last_answer=Answer.SAME_HIGH)
    before = present_of(history.events[:5])
    assert before == Present(None, False, FlagReason.BROKEN, at(4), Answer.DIFFERENT_HIGH)
    assert before.done
    assert not EMPTY.present.done


def test_the_same_again_adds_nothing() -> None:
    """A retried request is harmless."""
    for history, again in (
        (EMPTY.decide(Answer.SAME_LOW, at(0)), lambda h: h.decide(Answer.SAME_LOW, at(1))),
        (EMPTY.skip(at(0)), lambda h: h.skip(at(1))),
        (EMPTY.flag(FlagReason.OTHER, at(0)), lambda h: h.flag(FlagReason.OTHER, at(1))),
        (EMPTY.decide(Answer.SAME_LOW, at(0)).withdraw(at(1)), lambda h: h.withdraw(at(2))),
        (EMPTY.resolve(Answer.SAME_LOW, at(0)), lambda h: h.resolve(Answer.SAME_LOW, at(1))),
        (EMPTY.resolve(Answer.SAME_LOW, at(0)).reopen(at(1)), lambda h: h.reopen(at(2))),
        (EMPTY, lambda h: h.remove_flag(at(1))),
    ):
        assert again(history) is history


def test_a_clock_that_is_set_back_changes_no_order() -> None:
    """The later event is never the earlier one."""
    history = EMPTY.decide(Answer.SAME_LOW, at(5)).decide(Answer.DIFFERENT_LOW, at(1))
    assert [event.time for event in history.events] == [at(5), at(5)]
    assert history.present.answer is Answer.DIFFERENT_LOW


def test_what_cannot_follow_is_refused() -> None:
    """Nothing is withdrawn that was never said; nobody resolves a pair that he worked on."""
    with pytest.raises(InputError, match="must follow"):
        EMPTY.withdraw(at(0))
    with pytest.raises(InputError, match="must follow"):
        EMPTY.skip(at(0)).withdraw(at(1)).withdraw(at(2))
    with pytest.raises(InputError, match="must follow"):
        EMPTY.reopen(at(0))
    with pytest.raises(InputError, match="not worked on it"):
        EMPTY.skip(at(0)).resolve(Answer.SAME_LOW, at(1))
    with pytest.raises(InputError, match="not worked on it"):
        EMPTY.resolve(Answer.SAME_LOW, at(1)).decide(Answer.SAME_HIGH, at(2))
    with pytest.raises(InputError, match="one pair and one worker"):
        History("p2", "ann", EMPTY.skip(at(0)).events)
    with pytest.raises(InputError, match="order of time"):
        History(
            "p1", "ann", (*EMPTY.skip(at(1)).events, *EMPTY.flag(FlagReason.OTHER, at(0)).events)
        )
    with pytest.raises(InputError, match="time zone"):
        Event("p1", "ann", EventKind.SKIPPED, NOON.replace(tzinfo=None))
    with pytest.raises(InputError, match="must have an answer"):
        Event("p1", "ann", EventKind.DECIDED, NOON)
    with pytest.raises(InputError, match="must have no answer"):
        Event("p1", "ann", EventKind.SKIPPED, NOON, Answer.SAME_LOW)
    with pytest.raises(InputError, match="must have a reason"):
        Event("p1", "ann", EventKind.FLAGGED, NOON)


STEPS = st.one_of(
    st.sampled_from(list(Answer)),
    st.sampled_from(["withdraw", "skip", "remove flag"]),
    st.sampled_from(list(FlagReason)),
)


def done(history: History, step: object, time: datetime) -> History:
    """The history with a step, or as it was where the step is refused."""
    if isinstance(step, Answer):
        return history.decide(step, time)
    if isinstance(step, FlagReason):
        return history.flag(step, time)
    try:
        return {
            "withdraw": history.withdraw,
            "skip": history.skip,
            "remove flag": history.remove_flag,
        }[str(step)](time)
    except InputError:
        return history


@given(st.lists(STEPS, max_size=12))
def test_the_present_is_a_function_of_the_events(steps: list[object]) -> None:
    """Against a naive twin; whatever was added before stays, and withdrawn answers never count."""
    history, answer, flag, skipped = EMPTY, None, None, False
    for minute, step in enumerate(steps):
        before = history.events
        history = done(history, step, at(minute))
        assert history.events[: len(before)] == before
        if isinstance(step, Answer):
            answer, skipped = step, False
        elif isinstance(step, FlagReason):
            flag = step
        elif step == "skip":
            answer, skipped = None, True
        elif step == "withdraw" and answer is not None:
            answer = None
        elif step == "remove flag":
            flag = None
    now = history.present
    assert (now.answer, now.flag, now.skipped) == (answer, flag, skipped)
    assert now == present_of(history.events) == History("p1", "ann", history.events).present
    standing = Decisions(history.events).answers
    assert standing == ({} if answer is None else {"p1": {"ann": answer}})
