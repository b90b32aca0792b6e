"""Options about what is said of a pair: thresholds or error rates, decisions, checks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.link.options.panels import OUTCOMES
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.linkage.outcomes.thresholds import Thresholds

Match = Annotated[
    float | None,
    typer.Option(
        metavar="SCORE",
        help="Least score of a match; 0.9 when not given, of encodings 0.5.",
        show_default=False,
        rich_help_panel=OUTCOMES,
    ),
]
Possible = Annotated[
    float | None,
    typer.Option(
        metavar="SCORE",
        help="Least score of a possible match; 0.1 when not given, of encodings 0.5.",
        show_default=False,
        rich_help_panel=OUTCOMES,
    ),
]
FalseMatchRate = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Find the thresholds: expected share of false ones among the matches.",
        show_default=False,
        rich_help_panel=OUTCOMES,
    ),
]
MissedMatchRate = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Find the thresholds: expected share of true matches called non-matches.",
        show_default=False,
        rich_help_panel=OUTCOMES,
    ),
]
Similarity = Annotated[
    float | None,
    typer.Option(
        metavar="DICE",
        help="Encodings only: least Dice similarity of a match, such as 0.85, where it is not to "
        "be found from the similarities.",
        show_default=False,
        rich_help_panel=OUTCOMES,
    ),
]
DecisionsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What people answered about the pairs of the same run before, or of --previous.",
        show_default=False,
        rich_help_panel=OUTCOMES,
    ),
]
ByUncertainty = Annotated[
    bool,
    typer.Option(
        "--by-uncertainty",
        help="Pairs for review: the most doubtful ones first.",
        rich_help_panel=OUTCOMES,
    ),
]
Check = Annotated[
    float | None,
    typer.Option(
        metavar="HALF_WIDTH",
        help="Draw pairs for clerical checks into checks.parquet: as few as give 95 % "
        "intervals of precision and recall of this half width, such as 0.02.",
        show_default=False,
        rich_help_panel=OUTCOMES,
    ),
]


@dataclass(frozen=True)
class ForPeople:
    """What a command line says about the pairs that people look at.

    Attributes
    ----------
    check
        Half width of intervals for which pairs are drawn.
    by_uncertainty
        Whether the most doubtful ones come first.
    """

    check: float | None
    by_uncertainty: bool


@dataclass(frozen=True)
class Limits:
    """What a command line says about thresholds.

    Attributes
    ----------
    match, possible
        Least score of a match, and of a possible match.
    false_match_rate, missed_match_rate
        Wanted error rates.
    similarity
        Least Dice similarity of a match, of encodings.
    """

    match: float | None = None
    possible: float | None = None
    false_match_rate: float | None = None
    missed_match_rate: float | None = None
    similarity: float | None = None

    @property
    def scores(self) -> bool:
        """Whether thresholds are asked for."""
        return self.match is not None or self.possible is not None

    @property
    def rates(self) -> dict[str, float] | None:
        """Wanted error rates, as a specification takes them.

        Raises
        ------
        InputError
            If one comes without the other, or thresholds beside them.
        """
        given = (self.false_match_rate, self.missed_match_rate)
        if given == (None, None):
            return None
        if self.scores:
            raise InputError(
                "options --match, --possible", "must come without --false-match-rate and its like"
            )
        if given[0] is None or given[1] is None:
            raise InputError(
                "options --false-match-rate, --missed-match-rate", "must come together"
            )
        return {"false_match_rate": given[0], "missed_match_rate": given[1]}

    def thresholds(self, usual: Thresholds) -> dict[str, float] | None:
        """Thresholds, as a specification takes them; ``None`` where none are asked for.

        Parameters
        ----------
        usual
            What one is where only the other is given, as far as that is possible.

        Raises
        ------
        InputError
            If one is no score.
        """
        if not self.scores:
            return None
        for name, score in (("--match", self.match), ("--possible", self.possible)):
            if score is not None and not 0 <= score <= 1:
                raise InputError(f"option {name}", "must be a score", accepted="0 to 1")
        upper = max(usual.upper, self.possible or 0.0) if self.match is None else self.match
        lower = min(usual.lower, upper) if self.possible is None else self.possible
        return {"lower": lower, "upper": upper}
