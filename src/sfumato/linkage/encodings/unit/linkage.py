"""What a linkage of encodings found beside pairs and persons."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from sfumato.linkage.encodings.unit.matching import Matching
from sfumato.linkage.encodings.unit.score import ScoredPairs
from sfumato.linkage.found import Found


@dataclass(frozen=True, eq=False)
class Matched:
    """Two sources whose encodings were compared, or one with itself.

    Attributes
    ----------
    left, right
        Their names.
    pairs
        The pairs.
    left_records, right_records
        Number of their records.
    """

    left: str
    right: str
    pairs: ScoredPairs = field(repr=False)
    left_records: int
    right_records: int

    @property
    def comparisons(self) -> int:
        """Number of pairs of records."""
        if self.left == self.right:
            return self.left_records * (self.left_records - 1) // 2
        return self.left_records * self.right_records

    def to_dict(self) -> dict[str, Any]:
        """What a manifest says of it."""
        pairs = self.pairs
        said: dict[str, Any] = {
            "left": self.left,
            "right": self.right,
            "pairs": len(pairs.left),
            "similarity_of_matches": pairs.threshold,
            "lost": pairs.lost,
        }
        if pairs.mixture is not None:
            said["mixture"] = asdict(pairs.mixture)
        if pairs.blocking is not None:
            said["blocking"] = asdict(pairs.blocking)
        return said


@dataclass(frozen=True, eq=False, kw_only=True)
class EncodedLinkage(Found):
    """Everything that a linkage of encodings found.

    Attributes
    ----------
    matching
        How the encodings were matched.
    matched
        The sources that were compared, and their pairs.
    """

    matching: Matching
    matched: tuple[Matched, ...] = field(repr=False)

    @property
    def estimated(self) -> bool:
        """Whether scores are estimated probabilities, and not given similarities."""
        return self.matching.similarity is None

    @property
    def comparisons(self) -> int:
        """Number of pairs of records that could be compared."""
        return sum(each.comparisons for each in self.matched)

    @property
    def lost(self) -> float:
        """Expected number of true matches that are not among the pairs, by the similarities."""
        return sum(each.pairs.lost for each in self.matched)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What somebody should look at."""
        said = tuple(
            f"Of {each.left} and {each.right}, matches and other pairs are not well apart: "
            f"{100 * each.pairs.mixture.matched:.1f} % of the records have a match, it seems. Give "
            "a similarity if you know better."
            for each in self.matched
            if each.pairs.mixture is not None and each.pairs.threshold >= 1
        )
        return (*said, *self.linked_schema.warnings)
