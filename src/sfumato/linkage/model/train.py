"""Estimate u by random pairs and m by expectation maximisation, with Splink."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.core.optional_packages import quiet
from sfumato.linkage.model.sessions import Session

RANDOM_PAIRS = 1_000_000
"""Random pairs from which u is estimated, five times as many of more than 100,000 records."""
MANY_RECORDS = 100_000
TRAINING_PAIRS = 1e6
"""Pairs of one blocking rule from which m is estimated, at most."""
_AT_ONCE = 100_000
"""So many random pairs are looked at in one part: to begin a part takes longer than they do."""
_CHUNKS = 10
"""Parts that more random pairs are looked at in."""
BELIEF = 20.0
"""Pairs that the first guess of m and u counts for, beside those that were seen."""
LEAST = 1e-7
"""The least u of a level."""


def train_u(linker: Any, *, seed: int, random_pairs: int) -> None:
    """Estimate u from random pairs.

    Parameters
    ----------
    linker
        Splink's linker.
    seed
        Seed of the random pairs.
    random_pairs
        Number of random pairs; many are looked at in parts, until each level was seen often
        enough.

    Raises
    ------
    SfumatoError
        If Splink cannot estimate it.
    """
    with quiet("estimate how often random pairs agree"):
        linker.training.estimate_u_using_random_sampling(
            max_pairs=random_pairs,
            seed=seed,
            num_chunks=_CHUNKS if random_pairs > _AT_ONCE else 1,
        )


def train_m(linker: Any, sessions: Sequence[Session]) -> list[Session]:
    """Estimate m by expectation maximisation; gives the sessions that came to an end.

    A session that fails leaves Splink's settings without the comparisons that it blocks on:
    those of before are put back.

    Parameters
    ----------
    linker
        Splink's linker, with u.
    sessions
        What to estimate m from.

    Raises
    ------
    SfumatoError
        If Splink cannot estimate it.
    """
    from splink.internals.exceptions import EMTrainingException

    done, settings = [], linker._settings_obj  # noqa: SLF001
    for session in sessions:
        before = settings.core_model_settings.copy()
        with quiet("estimate how often true matches agree"):
            try:
                linker.training.estimate_parameters_using_expectation_maximisation(
                    session.rule,
                    max_pairs=TRAINING_PAIRS,
                    estimate_without_term_frequencies=True,
                )
                done.append(session)
            except (EMTrainingException, ValueError, ZeroDivisionError):
                settings.core_model_settings = before
    return done


def steadied(
    trained: dict[str, Any], first: dict[str, Any], sessions: Sequence[Session], random_pairs: float
) -> dict[str, Any]:
    """Settings whose m and u lean on the first guess where little was seen.

    A level that was never seen, or in a few pairs only, has an estimate of 0 or none, which
    would make one disagreement decide all. Both are averaged with the first guess, which counts
    for 20 pairs: (n · estimate + 20 · guess) / (n + 20), each comparison's to sum 1. The numbers
    are rounded, so that the order in which threads add up does not show. The SQL is that of
    before training.

    Parameters
    ----------
    trained
        Settings after training.
    first
        Settings before it.
    sessions
        What m was estimated from.
    random_pairs
        Number of pairs that u was estimated from.
    """
    settings = {**trained, "comparisons": []}
    for after, before in zip(trained["comparisons"], first["comparisons"], strict=True):
        seen = [s.matches for s in sessions if after["output_column_name"] in s.comparisons]
        guesses = before["comparison_levels"]
        levels = [
            {**level, **{key: guess[key] for key in ("sql_condition",) if key in guess}}
            for level, guess in zip(after["comparison_levels"], guesses, strict=True)
        ]
        free = [i for i, level in enumerate(levels) if _is_estimated(level)]
        for key, count in (
            ("m_probability", max(seen, default=0)),
            ("u_probability", random_pairs),
        ):
            _lean(levels, guesses, free, key, float(count))
        settings["comparisons"].append({**after, "comparison_levels": levels})
    return settings


def _is_estimated(level: dict[str, Any]) -> bool:
    return not level.get("is_null_level") and not level.get("fix_m_probability")


def _lean(
    levels: list[dict[str, Any]],
    guesses: list[dict[str, Any]],
    free: list[int],
    key: str,
    count: float,
) -> None:
    guess = {i: guesses[i].get(key) for i in free}
    estimate = {i: levels[i].get(key) for i in free}
    mixed = {}
    for i in free:
        one, other = estimate[i], guess[i]
        one = float(one) if isinstance(one, (int, float)) else 0.0
        other = float(other) if isinstance(other, (int, float)) else one
        mixed[i] = max((count * one + BELIEF * other) / (count + BELIEF), LEAST)
    whole = sum(mixed.values())
    for i, value in mixed.items():
        levels[i][key] = float(f"{value / whole:.9g}")
