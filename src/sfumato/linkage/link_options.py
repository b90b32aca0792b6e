"""What is compared, what people say, what goes into the linked file: each option declared once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from sfumato.core import declaration
from sfumato.core.errors import InputError
from sfumato.linkage.link_engine import Engine

# For types alone: a command line that only prints its options does not load what links.
if TYPE_CHECKING:
    from sfumato.linkage.link_model import Model
    from sfumato.linkage.match_decisions import Decisions
    from sfumato.linkage.match_thresholds import Thresholds

# Both ends are of use: at 0 every candidate pair is a match, at 1 only certain ones.
SCORES = declaration.Share(zero=True, one=True)


@dataclass(frozen=True)
class Comparing:
    """What is compared and scored, beside the specification."""

    id_column: Annotated[
        str | None,
        declaration.Parameter(
            "The column that names each record within its table.", "COLUMN", option="--id"
        ),
    ] = None
    model: Annotated[
        Any,
        declaration.Parameter(
            "A trained model, such as the model.json of another linkage.", "FILE", path=True
        ),
    ] = None
    previous: Annotated[
        Path | None,
        declaration.Parameter(
            "An earlier linkage of some of these tables: people keep their ids, decisions hold, "
            "its specification and model are taken.",
            "FOLDER",
        ),
    ] = None
    allow_pairs: Annotated[
        int | None,
        declaration.Parameter(
            "Candidate pairs above which nothing is scored.",
            "N",
            declaration.Count(1),
            usual="what the specification says, or 100,000,000",
        ),
    ] = None
    engine: Annotated[
        Engine | None,
        declaration.Parameter(
            "Where candidate pairs are made and scored: on this machine, or by Spark, with "
            "sfumato[spark], which then reads folders and URIs, too. The result is the same.",
            usual="duckdb; spark where a table is a DataFrame of PySpark",
        ),
    ] = None

    def __post_init__(self) -> None:
        declaration.check_fields(self)
        if self.previous is not None:
            # Callers in Python may give text, and the dataclass is frozen.
            object.__setattr__(self, "previous", Path(self.previous))


@dataclass(frozen=True)
class ForPeople:
    """What people answered, and what they are to look at."""

    decisions: Annotated[
        Any,
        declaration.Parameter(
            "What people answered about the pairs of the same run before, or of --previous.",
            "FILE",
            path=True,
        ),
    ] = None
    by_uncertainty: Annotated[
        bool, declaration.Parameter("Pairs for review: the most doubtful ones first.")
    ] = False
    check_half_width: Annotated[
        float | None,
        declaration.Parameter(
            "Draw pairs for clerical checks into checks.parquet: as few as give 95 % intervals of "
            "precision and recall of this half width, such as 0.02.",
            "HALF_WIDTH",
            declaration.Between(0, 0.5),
            flag="check",
        ),
    ] = None

    def __post_init__(self) -> None:
        declaration.check_fields(self)


@dataclass(frozen=True)
class LinkedFile:
    """What goes into the linked file."""

    quasi_identifiers: Annotated[
        tuple[str, ...] | None,
        declaration.Parameter(
            "A compared column that goes into the linked file; without any those of the schema, "
            "or dates, postcodes, numbers and categories. Repeatable.",
            "COLUMN",
            option="--quasi-identifier",
        ),
    ] = None
    attach_tables: Annotated[
        Mapping[str, object],
        declaration.Parameter(
            "Further records of a table's people by its ids, such as visits; they stand in the "
            "linked file instead of the table's own. Repeatable.",
            "SOURCE=FILE",
            flag="attach",
            parse=declaration.places_by_name,
        ),
    ] = field(default_factory=dict)
    pseudonym_key: Annotated[
        bytes | None,
        declaration.Parameter(
            "Key for person ids that are the same in every run; random without it.",
            "FILE",
            flag="key_file",
            path=True,
        ),
    ] = None
    secret: declaration.OwnSecret = None
    seed: declaration.Seed = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "attach_tables", self.attach_tables or {})


class EncodedLinkOptions(TypedDict, total=False):
    """The keywords of `sfumato.link` that apply where encodings are linked."""

    id_column: str | None
    attach_tables: Mapping[str, object] | None
    pseudonym_key: bytes | None
    secret: bytes | None
    seed: int | None


class LinkOptions(EncodedLinkOptions, total=False):
    """The keywords of `sfumato.link`; a test holds them to the declarations of this module."""

    model: Model | str | os.PathLike[str] | None
    previous: str | os.PathLike[str] | None
    allow_pairs: int | None
    engine: str | None
    decisions: Decisions | str | os.PathLike[str] | None
    by_uncertainty: bool
    check_half_width: float | None
    quasi_identifiers: Sequence[str] | None


@dataclass(frozen=True)
class NextPairs:
    """How many pairs people are asked next, and how sure the persons are to be."""

    pairs: Annotated[
        int, declaration.Parameter("Pairs of the batch.", "N", declaration.Count(1))
    ] = 50
    clusters: Annotated[
        int,
        declaration.Parameter(
            "Clusters, of three records or more, to decide beside those pairs.",
            "N",
            declaration.Count(0),
        ),
    ] = 5
    half_width: Annotated[
        float,
        declaration.Parameter(
            "Half the width that an interval (95 %) may have.",
            "HALF_WIDTH",
            declaration.Between(0, 0.5),
        ),
    ] = 0.01
    seed: declaration.Seed = None

    def __post_init__(self) -> None:
        declaration.check_fields(self)


@dataclass(frozen=True)
class Deduping:
    """Which records may be one person's; a specification says the same, source by source."""

    dedupe: Annotated[
        bool,
        declaration.Parameter(
            "Look for records of one person within a table, too; a single table always is."
        ),
    ] = False
    one_per_source: Annotated[
        bool, declaration.Parameter("Every table has at most one record per person.")
    ] = False


@dataclass(frozen=True)
class Limits:
    """The thresholds that a command line or a project file asks for in place of the usual ones."""

    match: Annotated[
        float | None,
        declaration.Parameter(
            "Least score of a match; 0.9 when not given, of encodings 0.5.", "SCORE", SCORES
        ),
    ] = None
    possible: Annotated[
        float | None,
        declaration.Parameter(
            "Least score of a possible match; 0.1 when not given, of encodings 0.5.",
            "SCORE",
            SCORES,
        ),
    ] = None
    false_match_rate: Annotated[
        float | None,
        declaration.Parameter(
            "Find the thresholds: expected share of false ones among the matches.", "SHARE", SCORES
        ),
    ] = None
    missed_match_rate: Annotated[
        float | None,
        declaration.Parameter(
            "Find the thresholds: expected share of true matches called non-matches.",
            "SHARE",
            SCORES,
        ),
    ] = None
    similarity: Annotated[
        float | None,
        declaration.Parameter(
            "Least Dice similarity of a match of encodings, such as 0.85; found from the "
            "similarities without it.",
            "DICE",
            declaration.Share(zero=False, one=True),
        ),
    ] = None

    def __post_init__(self) -> None:
        declaration.check_fields(self)

    @property
    def rates(self) -> dict[str, float] | None:
        """Wanted error rates, as a specification takes them."""
        false, missed = self.false_match_rate, self.missed_match_rate
        if false is None and missed is None:
            return None
        # Both ways fix the same two thresholds, so one would overrule the other unseen.
        if self.match is not None or self.possible is not None:
            raise InputError(
                "options --match, --possible", "must come without --false-match-rate and its like"
            )
        # One rate fixes one threshold, and leaves the other undecided.
        if false is None or missed is None:
            raise InputError(
                "options --false-match-rate, --missed-match-rate", "must come together"
            )
        return {"false_match_rate": false, "missed_match_rate": missed}

    def thresholds(self, usual: Thresholds) -> dict[str, float] | None:
        """Thresholds, as a specification takes them; ``None`` where none are asked for.

        Where only one is given, the other is the usual one as far as that is possible.
        """
        if self.match is None and self.possible is None:
            return None
        # One that is asked for may lie beyond the usual other one,
        # which gives way to keep the order.
        upper = max(usual.upper, self.possible or 0.0) if self.match is None else self.match
        lower = min(usual.lower, upper) if self.possible is None else self.possible
        return {"lower": lower, "upper": upper}
