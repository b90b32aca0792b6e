"""A search that was ended goes on from what it told, and finds what it would have found."""

from __future__ import annotations

from sfumato.examples import generate_clinics
from sfumato.pipeline.tune import tune
from sfumato.pipeline.tune.trials import Trial


def searched(
    most: int, tried: tuple[Trial, ...] = (), stop_after: int | None = None
) -> tuple[tuple[Trial, ...], list[Trial]]:
    """The trials of a search, and those that were made now."""
    clinics, made = generate_clinics(25, rng=3), list[Trial]()

    def stop(_stage: str, _share: float) -> None:
        if len(made) == stop_after:
            raise KeyboardInterrupt

    asked = {"max_gidr": 0.35, "max_gsar": 0.7}
    found = tune(
        clinics.visits, clinics.schema, asked,
        trials=most, seed=4, progress=stop, told=made.append, tried=tried,
    )  # fmt: skip
    assert found.stopped == ("trials" if stop_after is None else "interrupted")
    return tuple(found.trials), made


def test_an_ended_search_goes_on() -> None:
    whole, made = searched(5)
    assert len(made) == 5
    part, made = searched(5, stop_after=2)
    assert tuple(made) == part == whole[:2]
    again, made = searched(5, tried=part)
    assert len(made) == 3
    assert again == whole
