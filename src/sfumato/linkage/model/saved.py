"""A trained model: Splink settings with their m, u and prior, and what was seen in training."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.core.atomic import write_text
from sfumato.core.errors import InputError
from sfumato.linkage.model.blocked import RulePairs


@dataclass(frozen=True, slots=True)
class LevelWeight:
    """What one comparison level says.

    Attributes
    ----------
    comparison
        Name of the comparison.
    level
        Number of the level, as in `Pairs`.
    label
        What it means.
    m, u
        Share of true matches, and of other pairs, in it.
    by_frequency
        Whether the weight is adjusted by the value's frequency.
    """

    comparison: str
    level: int
    label: str
    m: float
    u: float
    by_frequency: bool

    @property
    def weight(self) -> float:
        """Match weight in bits, log₂(m / u), before the value's frequency."""
        return math.log2(max(self.m, 1e-12) / max(self.u, 1e-12))


@dataclass(frozen=True, eq=False)
class Model:
    """A trained linkage model; its settings hold no value of the data.

    Attributes
    ----------
    settings
        Splink settings with m, u and prior.
    rules
        The blocking rules, and the pairs that each makes and none before it; none where the model
        has scored nothing yet.
    comparisons
        Number of pairs of records without blocking.
    lost
        Expected number of true matches that no rule brings together.
    impossible
        By column of dates: number of values that are no date.
    notes
        What was found when the model was trained, in sentences.
    engine
        Where the pairs were scored, ``"duckdb"`` or ``"spark"``.
    """

    settings: dict[str, Any]
    rules: tuple[RulePairs, ...] = ()
    comparisons: int = 0
    lost: float = 0.0
    impossible: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    engine: str = "duckdb"

    @property
    def prior(self) -> float:
        """Probability that two records compared at random are one person's."""
        return float(self.settings["probability_two_random_records_match"])

    @property
    def candidates(self) -> int:
        """Number of candidate pairs, those scored too low to be kept included."""
        return sum(rule.pairs for rule in self.rules)

    @property
    def weights(self) -> tuple[LevelWeight, ...]:
        """What each comparison level says, in the settings' order."""
        return tuple(level_weights(self.settings))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the settings as JSON that Splink can read, too.

        Parameters
        ----------
        path
            The file.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        write_text(path, json.dumps(self.settings, indent=2) + "\n")


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a trained model from JSON.

    Parameters
    ----------
    path
        The file, written by `Model.save` or by Splink.

    Raises
    ------
    InputError
        If it cannot be read, or holds no trained model.
    """
    file = Path(path)
    subject = f"model {file.name}"
    try:
        settings = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        found = (error.strerror or type(error).__name__).lower()
        raise InputError(subject, "must be a file that can be read", found=found) from None
    except (ValueError, RecursionError):
        raise InputError(subject, "must be settings of Splink as JSON") from None
    if not isinstance(settings, dict) or "comparisons" not in settings:
        raise InputError(subject, "must be settings of Splink as JSON")
    try:
        trained = is_trained(settings)
    except (AttributeError, KeyError, TypeError):
        raise InputError(subject, "must be settings of Splink as JSON") from None
    if not trained:
        raise InputError(subject, "must be trained", found="levels without m or u")
    return Model(settings)


def is_trained(settings: dict[str, Any]) -> bool:
    """Whether every comparison level of some settings has its m and u."""
    return all(
        isinstance(level.get(key), (int, float))
        for _, _, level in _levels(settings)
        for key in ("m_probability", "u_probability")
    )


def level_weights(settings: dict[str, Any]) -> Iterator[LevelWeight]:
    """What each comparison level of trained settings says.

    Parameters
    ----------
    settings
        The settings.

    Yields
    ------
    LevelWeight
        From the highest level of each comparison down.
    """
    for comparison, number, level in _levels(settings):
        yield LevelWeight(
            comparison,
            number,
            str(level.get("label_for_charts", number)),
            float(level["m_probability"]),
            float(level["u_probability"]),
            bool(level.get("tf_adjustment_column")) and level.get("tf_adjustment_weight", 1) != 0,
        )


def equal_u(settings: dict[str, Any]) -> dict[str, float]:
    """The u of the highest level of each comparison, 1 where it was not estimated.

    Parameters
    ----------
    settings
        The settings.
    """
    found: dict[str, float] = {}
    for comparison, _, level in _levels(settings):
        u = level.get("u_probability")
        found.setdefault(comparison, float(u) if isinstance(u, (int, float)) else 1.0)
    return found


def with_levels(
    settings: dict[str, Any], changes: Mapping[tuple[str, int], Mapping[str, Any]]
) -> dict[str, Any]:
    """Settings with other values in their comparison levels.

    Parameters
    ----------
    settings
        The settings; they are left as they are.
    changes
        By comparison and number of the level: keys and values.
    """
    comparisons = []
    for comparison in settings["comparisons"]:
        name, levels = comparison["output_column_name"], []
        number = sum(not level.get("is_null_level") for level in comparison["comparison_levels"])
        for level in comparison["comparison_levels"]:
            if level.get("is_null_level"):
                levels.append(level)
                continue
            number -= 1
            levels.append({**level, **changes.get((name, number), {})})
        comparisons.append({**comparison, "comparison_levels": levels})
    return {**settings, "comparisons": comparisons}


def _levels(settings: dict[str, Any]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Comparison, number and settings of each level that is not for missing values."""
    for comparison in settings["comparisons"]:
        levels = [c for c in comparison["comparison_levels"] if not c.get("is_null_level")]
        for place, level in enumerate(levels):
            yield comparison["output_column_name"], len(levels) - 1 - place, level
