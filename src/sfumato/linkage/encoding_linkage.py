"""A linkage of encodings at the unit that links: who belongs together, and its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.arrays import Floats, Ints
from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.core.number_text import percentage
from sfumato.core.secret_keys import Secret
from sfumato.linkage import linkage_result, linked_file
from sfumato.linkage.encoded_table import is_encoded, read_encoded
from sfumato.linkage.encoding import Encoded, check_comparable
from sfumato.linkage.encoding_scores import LEAST_PROBABILITY, ScoredPairs, score_pairs
from sfumato.linkage.link_spec import Mode, WantedRates
from sfumato.linkage.linkage_files import MODEL
from sfumato.linkage.linkage_manifest import ENCODINGS, LinkManifest, versions
from sfumato.linkage.match_thresholds import MATCH, Pairs, Records, Thresholds
from sfumato.linkage.person_clusters import settle
from sfumato.schema import Schema
from sfumato.table.table_files import data_sha256

BY_ENCODINGS = "similarities"
_WHY = (
    "by what each linked record would be linked to without its partner; recall at least as if "
    "every record without a match had one"
)
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
        # Runners-up tell chance from matches only where a record has one match at most.
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
            # The dataclass is frozen, and thresholds follow from the similarity.
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


@dataclass(frozen=True, eq=False)
class Matched:
    """Two sources whose encodings were compared, or one with itself."""

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

    def tally(
        self, left: Ints, right: Ints, by_score: float, upper: float, once: Collection[str]
    ) -> Floats:
        """What is known of the matches from what their records would be linked to otherwise.

        Encodings of one person may have little in common, and then nothing tells them from those of
        two. So each record without a match may have one, where a source has nobody twice.

        Parameters
        ----------
        once
            Names of the sources that have at most one record per person.

        Returns
        -------
        ndarray
            Number of matches; of wrong ones, expected and at most; of true pairs, found or not,
            expected and at least; and of those not found, at most. Shape (6,).
        """
        others = (self.right, self.left)
        records = (self.left_records, self.right_records)
        alone = [n - len(np.unique(each)) for n, each in zip(records, (left, right), strict=True)]
        # A rival is a stranger for sure where the other source has each person once.
        sure = [place for place, other in enumerate(others) if other in once]
        sides = [self.pairs.rivals[place] for place in sure or (0, 1)]
        wrong, most = np.array([side.wrong(upper) for side in sides]).T.tolist()
        # More than one match of a record: strangers, or the same person again.
        more = max(len(left) - sides[0].linked(upper), 0)
        expected = float(np.mean(wrong)) if len(sure) == len(others) else min(wrong)
        worst = max(max(most) + more, by_score)
        hidden = min(alone[place] for place in sure) if sure else max(alone)
        # Among all pairs that are kept, likely or not, there are more than strangers make.
        kept = [
            side.linked(LEAST_PROBABILITY) - np.array(side.wrong(LEAST_PROBABILITY))
            for side in sides
        ]
        there = np.min(kept, axis=0)
        return np.array([len(left), expected + min(more, by_score), worst, *there, hidden + worst])

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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EncodedLinks(linkage_result.Found):
    """Everything that a linkage of encodings found; it can be written, printed, and told.

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

    @cached_property
    def quality(self) -> tuple[Measure, Measure]:
        """Precision and recall of the matches, with the ends between which they are."""
        precision, recall = self.settled.quality
        if not self.estimated:
            return precision, recall
        match = self.outcomes == MATCH
        starts = dict(zip(self.records.sources, self.records.starts.tolist(), strict=False))
        tallies = np.zeros(6)
        for place, each in enumerate(self.matched):
            own = match & (self.pairs.block == place)
            tallies += each.tally(
                self.pairs.left[own] - starts[each.left],
                self.pairs.right[own] - starts[each.right],
                float(np.sum(1 - self.pairs.score[own])),
                self.thresholds.upper,
                self.matching.one_per_source,
            )
        found, wrong, most, there, least, hidden = tallies.tolist()
        right, fewest = found - wrong, max(found - most, 0.0)
        return (
            _between(precision.name, right / max(found, 1), fewest / max(found, 1), 1.0),
            _between(
                recall.name,
                right / max(right, there, 1),
                fewest / max(fewest + hidden, 1),
                found / max(found, least, 1),
            ),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What somebody should look at."""
        said = tuple(
            f"Of {each.left} and {each.right}, matches and other pairs are not well apart: "
            f"{percentage(each.pairs.mixture.matched)} of the records have a match, it seems. Give "
            "a similarity if you know better."
            for each in self.matched
            # From 1 on equal encodings alone are matches:
            # no similarity tells the two kinds of pairs apart.
            if each.pairs.mixture is not None and each.pairs.threshold >= 1
        )
        return (*said, *self.linked_schema.warnings)

    def write(
        self, folder: str | os.PathLike[str], *, also: Callable[[Path], None] | None = None
    ) -> Path:
        """Write the folder of the linkage, whole or not at all.

        Parameters
        ----------
        folder
            Where; made if it does not exist. Other files in it are kept.
        also
            Writes more files, given the folder as it is being made.

        Raises
        ------
        InputError
            If it cannot be written, or holds something else than a linkage of encodings.
        """
        check_encodings_folder(folder)

        def fill(place: Path) -> None:
            linkage_result.write_linked_schema(self.linked_schema, place, Path(folder))
            if also is not None:
                also(place)

        return linkage_result.write_found(self, folder, fill)

    def to_json(self) -> dict[str, Any]:
        """Numbers about a linkage of encodings as plain values."""
        found: dict[str, Any] = {
            "mode": self.matching.mode.value,
            "specification": "encodings",
            "seed": self.seed,
            "records": linkage_result.records_json(self),
            "comparisons_without_blocking": self.comparisons,
            "pairs": len(self.pairs),
            "score": "probability" if self.estimated else "similarity",
            "thresholds": linkage_result.thresholds_json(self),
            "matched": [each.to_dict() for each in self.matched],
            "outcomes": linkage_result.outcomes_json(self),
        }
        if self.estimated:
            intervals = {measure.name: measure.to_json() for measure in self.quality}
            found["expected"] = {**linkage_result.expected_json(self), "intervals": intervals}
        persons = linkage_result.persons_json(
            self, "not estimated of encodings: see what is expected of the pairs"
        )
        return {**found, "persons": persons, "warnings": list(self.warnings)}

    def lines(self) -> list[str]:
        """A linkage of encodings in a few lines."""
        at, found = self.thresholds, linkage_result.outcomes_json(self)
        sources = ", ".join(
            f"{name} {count:,}" for name, count in linkage_result.records_json(self).items()
        )
        score = "probability" if self.estimated else "Dice similarity"
        lines = [
            f"Records           {self.records.count:,} ({sources}), {self.matching.mode.value}",
            f"Encodings         {self.comparisons:,} compared, {len(self.pairs):,} kept",
            f"Matches           {found['match']:,} ({score} from {at.upper:.4g})",
        ]
        if at.lower < at.upper:
            lines.append(
                f"Possible matches  {found['possible_match']:,} ({score} from {at.lower:.4g})"
            )
        lines.append(f"People            {self.settled.persons.count:,}")
        if self.estimated:
            precision, recall = self.quality
            right = (
                f"{linkage_result.percent(precision.value)} ({linkage_result.between(precision)})"
            )
            lines += [
                f"Expected          precision {right},",
                f"                  recall {linkage_result.between(recall)} of the pairs",
                *(
                    f"Similarity        {each.left}, {each.right}: matches from "
                    f"{each.pairs.threshold:.3f}"
                    for each in self.matched
                ),
            ]
        return lines

    def _repr_html_(self) -> str:
        return linkage_result.as_html(
            self, self.warnings, "probability" if self.estimated else "similarity"
        )


def _between(name: str, value: float, low: float, high: float) -> Measure:
    """A share within its interval."""
    within = min(max(value, low), high)
    return Measure(name, within, low=low, high=high, estimator=BY_ENCODINGS, why=_WHY)


def check_encodings_folder(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that a linkage of encodings must not be written to."""
    linkage_result.check_links_folder(folder)
    # Files of a linkage of clear tables would stay beside those of another linkage.
    if (Path(folder) / MODEL).exists():
        raise InputError(
            f"output {Path(folder).name}",
            "must be a new or empty folder, or that of a linkage of encodings",
            found="a linkage of clear tables",
            advice="choose another one",
        )


# Of its own, so that what is drawn elsewhere from the same seed changes no match.
MATCHING = 4
"""The stream of the seed that samples of encodings come from."""


def all_encoded(tables: Mapping[str, object]) -> bool:
    """Whether the tables are encodings, by what they hold and not by their names."""
    encoded = [name for name, table in tables.items() if is_encoded(table)]
    clear = [name for name in tables if name not in encoded]
    if encoded and clear:
        raise InputError(
            "the tables",
            "must all be encodings, or none of them",
            found=f"encodings in {', '.join(encoded)}; a clear table in {', '.join(clear)}",
            advice="encode the others with the same key and specification: sfumato link encode",
        )
    return bool(encoded)


def link_encodings(
    tables: Mapping[str, object],
    matching: Matching,
    *,
    schema: Schema | None = None,
    attach_tables: Mapping[str, object] | None = None,
    pseudonym_key: bytes | None = None,
    secret: Secret,
    seed: int,
    progress: Progress = silent,
) -> EncodedLinks:
    """Link encodings of several owners without a key and without a value.

    Parameters
    ----------
    schema
        What the columns of attached tables are.
    attach_tables
        By source: a table with any number of rows per record whose columns go into the linked
        file. Without any the linked file has persons and sources only.
    pseudonym_key
        Secret for ids that are the same in every run; random ones without it.
    """
    sources = _read(tables, matching.mode)
    records = Records(tuple(sources), tuple(source.ids for source in sources.values()))
    rng = np.random.default_rng([seed, MATCHING])
    matched = tuple(_matched(sources, matching, rng, progress))
    pairs = _together(matched, records)
    settled = settle(records, pairs, matching, lost=sum(each.pairs.lost for each in matched))
    progress("persons", 0.5)
    analytic, declared = _analytic(records, matching, attach_tables or {}, schema)
    ids = linked_file.name_persons(records, settled.persons.person, secret, key=pseudonym_key)
    progress("persons", 1.0)
    return EncodedLinks(
        records=records,
        pairs=pairs,
        settled=settled,
        person_ids=ids,
        analytic=analytic,
        linked_schema=declared,
        matching=matching,
        matched=matched,
        secret=secret,
        manifest=LinkManifest(
            seed=seed,
            keyed=pseudonym_key is not None,
            thresholds=settled.thresholds,
            sources={
                name: {"records": len(source), "sha256": data_sha256(tables[name])}
                for name, source in sources.items()
            },
            attached={name: data_sha256(table) for name, table in (attach_tables or {}).items()},
            quasi_identifiers={},
            model={ENCODINGS: _model(sources, matching), "matched": [m.to_dict() for m in matched]},
            versions=versions(),
        ),
    )


def _read(tables: Mapping[str, object], mode: Mode) -> dict[str, Encoded]:
    """The encodings, comparable with each other."""
    one = mode is Mode.DEDUPE_ONLY
    if (len(tables) != 1) if one else (len(tables) < 2):
        raise InputError(
            "the encodings",
            "must be one source" if one else "must be two sources at least",
            found=f"{len(tables)}",
            advice="" if one else "look for double records of one table before it is encoded",
        )
    sources: dict[str, Encoded] = {}
    for name, table in tables.items():
        sources[name] = _one(table, name)
        first = next(iter(sources))
        # With the first alone: who has its key and specification has that of all others.
        check_comparable(sources[first], sources[name], f"the encodings of {first} and {name}")
    return sources


def _one(table: object, name: str) -> Encoded:
    if isinstance(table, Encoded):
        return table
    if isinstance(table, (str, os.PathLike)):
        return read_encoded(Path(os.fsdecode(table)))
    raise InputError(f"source {name}", "must be encodings", found=type(table).__name__)


def _matched(
    sources: Mapping[str, Encoded], matching: Matching, rng: np.random.Generator, progress: Progress
) -> Iterator[Matched]:
    """The pairs of each two sources, and within each where that is asked."""
    compared = [] if matching.mode is Mode.DEDUPE_ONLY else list(combinations(sources, 2))
    if matching.mode is not Mode.LINK_ONLY:
        # Who holds each person once has no doubles.
        compared += [(name, name) for name in sources if name not in matching.one_per_source]
    for place, (one, other) in enumerate(compared):
        # One-to-one needs both: a record may match two of a source that has doubles.
        single = one != other and {one, other} <= set(matching.one_per_source)

        def tell(stage: str, share: float, done: int = place) -> None:
            progress(stage, (done + share) / len(compared))

        scored = score_pairs(
            sources[one],
            sources[other],
            similarity=matching.similarity,
            one_to_one=single,
            rng=rng,
            progress=tell,
        )
        yield Matched(one, other, scored, len(sources[one]), len(sources[other]))


def _together(matched: tuple[Matched, ...], records: Records) -> Pairs:
    """All pairs by the records' numbers, the likeliest first."""
    start = dict(zip(records.sources, records.starts.tolist(), strict=False))
    nothing = np.empty(0, np.int64)
    left = np.concatenate([nothing, *(m.pairs.left + start[m.left] for m in matched)])
    right = np.concatenate([nothing, *(m.pairs.right + start[m.right] for m in matched)])
    score = np.concatenate([np.empty(0), *(m.pairs.score for m in matched)])
    block = np.repeat(np.arange(len(matched)), [len(m.pairs.left) for m in matched])
    # By record after the score, so that ties fall alike on every machine.
    order = np.lexsort((right, left, -score))
    return Pairs(left[order], right[order], score[order], {}, block.astype(np.int16)[order])


def _analytic(
    records: Records, matching: Matching, tables: Mapping[str, object], schema: Schema | None
) -> tuple[linked_file.Analytic, linked_file.LinkedSchema]:
    """What is attached of each record, and what its columns are."""
    analytic = linked_file.sources_alone(records)
    if tables:
        analytic = linked_file.attach(analytic, records, tables, matching, schema)
    # Without attached tables the file has persons and sources only, of which no schema speaks.
    return linked_file.declare(analytic, schema if tables else None)


def _model(sources: Mapping[str, Encoded], matching: Matching) -> dict[str, object]:
    """What a manifest says of the encodings and of how they were matched."""
    first = next(iter(sources.values()))
    said: dict[str, object] = {
        "length": first.length,
        "key": first.key_check,
        "specification": first.spec_check,
        "mode": matching.mode.value,
        "one_per_source": list(matching.one_per_source),
    }
    if matching.rates is not None:
        said["rates"] = matching.rates.model_dump()
    return said
