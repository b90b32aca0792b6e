"""A review that is opened beside the pages: how far it is, leaving it, who is there already."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from cli.review_folders import many_pairs
from patience import PATIENCE, wait_until

from sfumato.core.declaration import Progress
from sfumato.core.errors import InputError
from sfumato.review import review_session
from sfumato.review.review_session import OpenReview
from sfumato.review.review_settings import Settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a review."""
    return many_pairs(tmp_path / "batch", 3, Settings())[0]


@pytest.fixture
def going(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set, it lets an opening go on that stands at a quarter."""
    own, event = review_session.index_of, threading.Event()

    def slow(project: object, rules: object, progress: Progress) -> object:
        progress("records", 0.25)
        assert event.wait(PATIENCE)
        progress("records", 0.75)
        return own(project, rules, progress)  # type: ignore[arg-type]

    monkeypatch.setattr(review_session, "index_of", slow)
    return event


def test_an_opening_says_how_far_it_is(folder: Path, going: threading.Event) -> None:
    review = OpenReview(folder)
    review.start(wait=0.01)
    wait_until(lambda: review.told == ("records", 0.25))
    assert review.opens
    going.set()
    wait_until(lambda: not review.opens)
    review.check()
    assert len(review.session().tasks) == 3
    review.close()


def test_an_opening_that_is_left_gives_the_folder_back(
    folder: Path, going: threading.Event
) -> None:
    review = OpenReview(folder)
    review.start(wait=0.01)
    threading.Timer(0.05, going.set).start()
    review.leave()
    wait_until(lambda: not review.opens)
    other = OpenReview(folder)
    other.start()
    assert len(other.session().tasks) == 3
    other.close()


def test_a_folder_that_is_reviewed_is_refused(folder: Path) -> None:
    first = OpenReview(folder)
    first.start()
    with pytest.raises(InputError):
        OpenReview(folder).start()
    first.close()


def test_a_review_that_was_left_does_not_open_again_without_its_lock(folder: Path) -> None:
    review = OpenReview(folder)
    review.start()
    review.leave()
    with pytest.raises(InputError, match="left"):
        review.session()
    next_one = OpenReview(folder)
    next_one.start()
    next_one.leave()
