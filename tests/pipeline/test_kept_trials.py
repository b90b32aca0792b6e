"""A search that was ended goes on from what it told, and finds what it would have found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sfumato.core.errors import InputError
from sfumato.examples import generate_clinics
from sfumato.pipeline.tune import KeptTrials, tune
from sfumato.pipeline.tune.trials import Trial, line_of, trial_of


def searched(file: Path, most: int, stop_after: int | None = None) -> tuple[list[Trial], int]:
    """The trials of a search by a file, and how many were made now."""
    clinics, made = generate_clinics(25, rng=3), 0

    def told(trial: Trial) -> None:
        nonlocal made
        made += 1
        kept.add(trial)

    def stop(_stage: str, _share: float) -> None:
        if made == stop_after:
            raise KeyboardInterrupt

    asked = {"max_gidr": 0.35, "max_gsar": 0.7}
    with KeptTrials(file) as kept:
        found = tune(
            clinics.visits,
            clinics.schema,
            asked,
            trials=most,
            seed=4,
            progress=stop,
            told=told,
            tried=kept.trials,
        )
    assert found.stopped == ("trials" if stop_after is None else "interrupted")
    return list(found.trials), made


def test_an_ended_search_goes_on(tmp_path: Path) -> None:
    whole, made = searched(tmp_path / "whole.jsonl", 5)
    assert made == 5
    part, made = searched(tmp_path / "part.jsonl", 5, stop_after=2)
    assert made == len(part) == 2
    with (tmp_path / "part.jsonl").open("a") as stream:
        stream.write('{"number": 3, "sta')  # killed while it wrote
    again, made = searched(tmp_path / "part.jsonl", 5)
    assert made == 3
    assert again == whole
    assert (tmp_path / "part.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert (tmp_path / "part.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_trial_comes_back_as_it_was(tmp_path: Path) -> None:
    trials, _ = searched(tmp_path / "trials.jsonl", 2)
    # What failed has an infinite loss.
    failed = replace(trials[0], loss=float("inf"), failures=("no class",), helps=("less",))
    for each in (*trials, failed):
        back = trial_of(line_of(each))
        assert back == each
        assert [type(limit) for _, limit in back.point.asked] == [
            type(limit) for _, limit in each.point.asked
        ]


def test_another_file_is_not_taken_for_trials(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("name,age\n")
    with pytest.raises(InputError, match="must hold the trials"), KeptTrials(tmp_path / "other"):
        pass
