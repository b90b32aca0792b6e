"""What a linkage of encodings asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sfumato.core.errors import InputError
from sfumato.linkage.outcomes.thresholds import Thresholds
from sfumato.linkage.spec.model import Mode, WantedRates

USUAL = Thresholds(lower=0.5, upper=0.5)
"""The thresholds where nobody asked for others: nobody can look at a possible match."""


@dataclass(frozen=True, kw_only=True)
class Matching:
    """How encodings are matched.

    Attributes
    ----------
    mode
        Which records are compared with which. Within a source only from a given similarity on.
    one_per_source
        Names of the sources that have at most one record per person. Between two of them each
        record is matched at most once, the most similar pairs first.
    thresholds, rates
        The thresholds on the probability of a match, or the error rates from which they are
        found; without either a pair is a match where that is more likely than not.
    similarity
        Dice similarity from which pairs are matches, in (0, 1], in place of the probability that
        is estimated from all similarities. It is the score of a pair then.
    id
        The column of ids in tables that are attached.
    rename
        By source: the header of that column in the table attached, where it is another one.

    Raises
    ------
    InputError
        If a rule for them is broken.
    """

    mode: Mode = Mode.LINK_ONLY
    one_per_source: tuple[str, ...] = ()
    thresholds: Thresholds | None = None
    rates: WantedRates | None = None
    similarity: float | None = None
    id: str | None = None
    rename: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be matched.

        Raises
        ------
        InputError
            If a rule for the fields is broken.
        """
        asked = [self.thresholds, self.rates, self.similarity]
        if sum(each is not None for each in asked) > 1:
            raise InputError(
                "the matching of encodings",
                "must have thresholds, rates or a similarity",
                found="several of them",
            )
        if self.similarity is None and self.mode is not Mode.LINK_ONLY:
            raise InputError(
                "the matching of encodings",
                "must have a Dice similarity where records of one source are compared",
                found="none",
                advice="give one, such as 0.85; or look for double records before encoding",
            )
        if self.similarity is not None and not 0 < self.similarity <= 1:
            raise InputError("the similarity of matches", "must be above 0 and at most 1")
        if self.similarity is not None:
            limit = Thresholds(lower=self.similarity, upper=self.similarity)
            object.__setattr__(self, "thresholds", limit)
        elif self.rates is None and self.thresholds is None:
            object.__setattr__(self, "thresholds", USUAL)


def matching_of(spec: object, id_column: str | None = None, *, one: bool = False) -> Matching:
    """How encodings are matched: as was asked, or as is usual.

    Parameters
    ----------
    spec
        What was given; ``None`` for the usual.
    id_column
        The column of ids in attached tables, instead of the one given.
    one
        Whether there is one source only, which is usually compared with itself.

    Raises
    ------
    InputError
        If it is no `Matching`, or one source is given without a similarity.
    """
    if spec is None:
        spec = Matching(mode=Mode.DEDUPE_ONLY if one else Mode.LINK_ONLY)
    if not isinstance(spec, Matching):
        raise InputError(
            "the specification",
            "must be a Matching where encodings are linked; what is compared was agreed upon when "
            "they were made",
            found=type(spec).__name__,
        )
    return spec if id_column is None else replace(spec, id=id_column)
