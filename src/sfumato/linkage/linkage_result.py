"""What a linkage has found, and how it is written and summed up."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Bools, Integers, Ints
from sfumato.core.atomic import atomic_folder, check_target_folder, write_text
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.core.notebook_parts import bars, lead, notes, styled_table
from sfumato.core.number_text import counted, percentage, wrapped
from sfumato.core.phrases import Sentence
from sfumato.core.secret_keys import Secret
from sfumato.linkage import linkage_files, match_thresholds
from sfumato.linkage.link_model import Model
from sfumato.linkage.link_sources import RECORD, free_name
from sfumato.linkage.link_spec import LinkSpec, dump_link_spec
from sfumato.linkage.linkage_manifest import LinkManifest, file_hash
from sfumato.linkage.linkage_quality import Checked, Checks, check_answers
from sfumato.linkage.linked_file import Analytic, LinkedSchema, PersonIds, linked_table
from sfumato.linkage.match_decisions import Decisions, answers_table
from sfumato.linkage.person_clusters import Followed, Settled
from sfumato.linkage.review_pairs import named_records, pairs_table, write_identifying
from sfumato.linkage.reviewed_persons import Reviewed
from sfumato.schema import Schema, dump_schema
from sfumato.table.table_files import write_table


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Found(ABC):
    """What every linkage finds.

    Attributes
    ----------
    pairs
        Their candidate pairs; the id of the first one is ``p1``.
    person_ids
        The persons' ids, and what became of the persons of an earlier linkage.
    linked_schema
        What each column of the linked file is, and what to look at.
    secret
        What random ids and the linked file's order come from; in no manifest, JSON, printout or
        pickle.
    """

    records: match_thresholds.Records
    pairs: match_thresholds.Pairs
    settled: Settled
    person_ids: PersonIds
    analytic: Analytic = field(repr=False)
    linked_schema: LinkedSchema = field(repr=False)
    manifest: LinkManifest
    secret: Secret = field(repr=False)

    @property
    def outcomes(self) -> match_thresholds.Codes:
        """Outcome of each pair: 0 non-match, 1 possible match, 2 match."""
        return self.settled.outcome

    @property
    def thresholds(self) -> match_thresholds.Thresholds:
        """Scores from which a pair is a possible match, and a match."""
        return self.settled.thresholds

    @property
    def quality(self) -> tuple[Measure, Measure]:
        """Expected precision and recall; recall counts what is not among the pairs."""
        return self.settled.quality

    def __repr__(self) -> str:
        matches = counted(outcomes_json(self)["match"], "match")
        return f"{type(self).__name__}({_worst(self)} {matches})"

    def __str__(self) -> str:
        """A few lines; the worst of it is the sentence below them."""
        said = Sentence("{begin}.", begin=_worst(self).removesuffix("."))
        return "\n".join([*self.lines(), "", *wrapped(said)])

    @abstractmethod
    def lines(self) -> list[str]:
        """The linkage in a few lines, each with what it speaks of first."""

    @property
    def stated(self) -> tuple[Measure, ...]:
        """Precision and recall as the lines have them; empty where nothing is known of them."""
        return self.quality

    @property
    @abstractmethod
    def lost(self) -> float:
        """Expected number of true matches that are not among the pairs."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Numbers about the linkage as plain values; no value of the data."""

    @property
    def seed(self) -> int:
        """Seed of what is drawn to link; what protects people comes from the secret."""
        return self.manifest.seed

    @property
    def schema(self) -> Schema:
        """What each column of the linked file is."""
        return self.linked_schema.schema

    @cached_property
    def persons(self) -> pa.Table:
        """Whose each record is: source, id, person."""
        source, ids = named_records(self.records, np.arange(self.records.count))
        return pa.table({"source": source, "id": ids, "person": self.person_ids.ids})

    @cached_property
    def persons_draws(self) -> pa.Table:
        """Persons in partitions drawn by their probability, of the records that these differ in.

        Source, id, and for each draw a number of the record's person. All other records are in
        each draw whose `persons` says; persons of two draws have nothing to do with each other.
        """
        inferred = self.settled.persons.inferred
        draws = np.empty((0, self.records.count), np.int32) if inferred is None else inferred.draws
        doubtful = np.flatnonzero(_in_doubt(self.settled.persons.person, draws))
        source, ids = named_records(self.records, doubtful)
        columns = {f"draw_{n}": draw[doubtful] for n, draw in enumerate(draws, 1)}
        return pa.table({"source": source, "id": ids, **columns})

    @property
    def found_any(self) -> bool:
        """Whether two records at least were found to be one person's."""
        return self.settled.persons.count < self.records.count

    @property
    def person_sizes(self) -> Ints:
        """Number of records of each person."""
        return np.bincount(self.settled.persons.person)

    @cached_property
    def linked(self) -> pa.Table:
        """The linked file: persons without identities, what is analysed, in a random order."""
        return linked_table(self.analytic, self.person_ids.ids, self.secret)

    @cached_property
    def pairs_table(self) -> pa.Table:
        """The pairs as pairs.parquet holds them."""
        return pairs_table(self.records, self.pairs, self.outcomes)


def _in_doubt(person: Integers, draws: Integers) -> Bools:
    """Whether each record's person has other records in some draw, or less."""
    doubt = np.zeros(len(person), dtype=np.bool_)
    own = np.bincount(person)[person]
    for draw in draws:
        _, place = np.unique(draw, return_inverse=True)
        # Records with the same person in both: as many as in either alone if nothing differs.
        _, both, size = np.unique(
            place * len(person) + person, return_inverse=True, return_counts=True
        )
        doubt |= (np.bincount(place)[place] != own) | (size[both] != own)
    return doubt


_BY_MODEL = (
    "false_matches",
    "missed_matches",
    "true_matches_found_in_review",
    "false_match_rate",
    "missed_match_rate",
    "precision",
    "recall",
)
"""What is known only as well as the model's probabilities are."""


def records_json(found: Found) -> dict[str, int]:
    """Number of records of each source."""
    records = found.records
    return {name: len(ids) for name, ids in zip(records.sources, records.ids, strict=True)}


def thresholds_json(found: Found) -> dict[str, float | None]:
    """Both thresholds; ``None`` where no score makes a match."""
    at = found.thresholds
    # JSON has no infinity.
    return {"possible_match": at.lower, "match": at.upper if isfinite(at.upper) else None}


def outcomes_json(found: Found) -> dict[str, int]:
    """Number of pairs of each outcome."""
    names = ("match", "possible_match", "non_match")
    # Reversed, as the codes ascend from non-match and people look for matches first.
    counts = np.bincount(found.outcomes, minlength=3)[::-1].tolist()
    return dict(zip(names, counts, strict=True))


def expected_json(found: Found) -> dict[str, float]:
    """The errors to be expected by the scores."""
    work = found.settled.workload
    precision, recall = found.quality
    return {
        "pairs_to_review": work.possible_matches,
        "false_matches": work.false_matches,
        "missed_matches": work.missed_matches,
        "true_matches_found_in_review": work.found_in_review,
        "false_match_rate": work.false_match_rate,
        "missed_match_rate": work.missed_match_rate,
        "lost_to_blocking": found.lost,
        "precision": precision.value,
        "recall": recall.value,
        "labels": found.settled.calibrated,
    }


def unless_contradicted(
    expected: Mapping[str, Any], checks: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The errors to be expected, where pairs checked by hand do not contradict them.

    Parameters
    ----------
    expected
        As `expected_json` has them.
    checks
        Precision and recall by checked pairs with their intervals, where there are some.

    Returns
    -------
    dict
        The same; or, where the expected precision or recall lies outside its interval, ``None``
        for all that rests on the model alone, and the names of those two that do under
        ``contradicted``.
    """
    names = [
        name
        for name in ("precision", "recall")
        if (held := (checks or {}).get(name)) is not None
        and expected[name] is not None
        and not held["low"] <= expected[name] <= held["high"]
    ]
    if not names:
        return dict(expected)
    return {**expected, **dict.fromkeys(_BY_MODEL), "contradicted": names}


def persons_json(found: Found, unknown: str, reviewed: Reviewed | None = None) -> dict[str, Any]:
    """Number of persons, of those with each number of records, and how good they are expected.

    Parameters
    ----------
    unknown
        Why nothing can be expected of them; empty where it can.
    reviewed
        What answers to pairs that were drawn say of them, which goes before what is expected.
    """
    sizes, counts = np.unique(found.person_sizes, return_counts=True)
    inferred = found.settled.persons.inferred
    expected: dict[str, dict[str, Any]] = {
        # Nothing known is an interval of all shares, not a missing number that is read as good.
        name: {"value": None, "low": 0.0, "high": 1.0, "why": unknown}
        for name in ("precision", "recall")
    }
    quality = () if inferred is None or unknown else inferred.stated
    within = None if inferred is None or unknown else inferred.within
    of_all = inferred is None or inferred.across is None
    # Answers of people go before a model's opinion of itself.
    if reviewed is not None and reviewed.learned.answered:
        quality, within, of_all = reviewed.quality, None, True
    if not found.found_any:
        expected["precision"]["why"] = NOTHING_JOINED
    answered = inferred is not None and inferred.weighed is not None
    decided = "; what people decided weighed as evidence" if answered else ""
    expected |= {
        each.name: {
            "value": each.value,
            "low": each.low,
            "high": each.high,
            "why": f"{each.why}{decided if reviewed is None else ''}",
        }
        for each in quality
        if found.found_any or each.name != "precision"
    }
    return {
        "count": found.settled.persons.count,
        **expected,
        "pairs": "all" if of_all else "across sources",
        **(
            {}
            if within is None or of_all
            else {
                "within": {each.name: each.to_json() for each in within},
            }
        ),
        "by_records": {
            str(size): int(count)
            for size, count in zip(sizes.tolist(), counts.tolist(), strict=True)
        },
    }


NOT_INFERRED = (
    "given names are not compared with surnames or dates of birth, so that nothing tells relatives "
    "from people; cannot be known without review"
)
NOBODY_FOUND = (
    "No two records were found to be one person's. If the tables have people in common, see in "
    "link.toml whether each column is compared with its counterpart. Compare what tells people "
    "apart: names, dates of birth, addresses, numbers of people."
)
NOTHING_JOINED = "no two records are one person's as found"
CONTRADICTED = "pairs that people checked contradict the model: see checks"
_LEFT_APART = 0.5
"""Expected recall of the persons below which a warning says so."""
# Both must be exceeded: in a small file a person may have a tenth, in a large one 20 records.
_MANY_RECORDS, _LARGE_SHARE = 20, 0.1
"""From so many records, and that share of all of them, one person's records are doubted."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Links(Found):
    """Everything that a linkage of clear tables found; it can be written, printed, and told.

    Attributes
    ----------
    review
        The possible matches by score, with the attributes that people tell records apart by.
    identifying
        All records with those attributes, as a Parquet file; ``None`` where the folder that the
        linkage was read from has none.
    spec
        What was linked, and how.
    suggested
        Whether sfumato proposed the specification.
    notes
        Why, by column and rule, where it did.
    model
        The model that scored the pairs.
    decisions
        What people answered.
    checks
        Pairs drawn for clerical checks, where they were asked for.
    reviewed
        What answers to the pairs of `sfumato link next` say of the persons, where some were drawn.
    origin
        The folder that the linkage was read from, whose specification, schema and model stay as
        they stand there; ``None`` for one that was just made.
    """

    review: pa.Table = field(repr=False)
    identifying: pa.Buffer | Path | None = field(repr=False)
    spec: LinkSpec
    suggested: bool
    notes: dict[str, str] = field(repr=False)
    model: Model = field(repr=False)
    decisions: Decisions | None
    checks: Checks | None = field(repr=False)
    reviewed: Reviewed | None = field(repr=False, default=None)
    origin: Path | None = None

    @cached_property
    def checked(self) -> Checked | None:
        """What answers to the pairs drawn for checks say; ``None`` where none were drawn."""
        if self.checks is None:
            return None
        return check_answers(self.checks, self.pairs, self.settled.verdicts, self.lost)

    @cached_property
    def expected(self) -> dict[str, Any]:
        """The errors to be expected, as `unless_contradicted` gives them."""
        quality = None if self.checked is None else self.checked.quality
        checks = {each.name: each.to_json() for each in quality or ()}
        expected: dict[str, Any] = unless_contradicted(expected_json(self), checks)
        if self.unsupported:
            # Without relations the model cannot tell relatives from persons, whatever checks say.
            expected |= {**dict.fromkeys(_BY_MODEL), "unsupported": self.unsupported}
        return expected

    @property
    def contradicted(self) -> tuple[str, ...]:
        """Which of the expected precision and recall the checked pairs contradict."""
        return tuple(self.expected.get("contradicted", ()))

    @property
    def lost(self) -> float:
        """Expected number of true matches that blocking has lost."""
        return self.model.lost

    @property
    def once(self) -> tuple[str, ...]:
        """Names of the sources that were found to hold each person once."""
        return tuple(name for name in self.model.once if name not in self.spec.one_per_source)

    @property
    def unsupported(self) -> str:
        """Why nothing can be expected of the persons and matches; empty where it can."""
        return "" if self.model.by_relations else NOT_INFERRED

    @property
    def told(self) -> bool:
        """Whether what the model expects can be shown."""
        return not self.contradicted and not self.unsupported

    @property
    def warnings(self) -> tuple[str, ...]:
        """What somebody should look at."""
        dates = tuple(
            f"'{name}': values taken as missing, as they are no dates: {count:,}."
            for name, count in self.model.impossible.items()
            if count
        )
        return (
            *(() if self.found_any else (NOBODY_FOUND,)),
            *self.model.notes,
            *dates,
            *self._joined(),
            *self._contradicted(),
            *self._left_apart(),
            *self.linked_schema.warnings,
        )

    def _left_apart(self) -> tuple[str, ...]:
        """A warning where most matches are expected to be of different persons as found."""
        inferred = self.settled.persons.inferred
        # The upper end of the interval: it warns only where even that is low.
        most = 1.0 if inferred is None else inferred.stated[1].high or 0.0
        if most >= _LEFT_APART:
            return ()
        said = (
            f"at most {percent(most)} of the pairs of one person are expected to be "
            "found. Compare what tells people apart; where a table has several records of a "
            'person, link with --dedupe (mode = "link-and-dedupe").'
        )
        return (said,)

    def _joined(self) -> tuple[str, ...]:
        """A warning where one person has so many records that they can hardly be one's."""
        person = self.settled.persons.person
        most = int(np.bincount(person).max(initial=0))
        if most < _MANY_RECORDS or most < _LARGE_SHARE * len(person):
            return ()
        said = (
            f"one person has {most:,} of the {len(person):,} records: records of different people "
            "have probably been joined; see whether what is compared tells people apart."
        )
        return (said,)

    def _contradicted(self) -> tuple[str, ...]:
        """A warning where pairs that people checked speak against the model."""
        if not self.contradicted:
            return ()
        said = (
            "the checked pairs contradict the model: what it expects of "
            f"{' and '.join(self.contradicted)} lies outside the interval of the checks, and is "
            "not shown. See whether what is compared tells people apart."
        )
        return (said,)

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
            If it cannot be written, or holds something else than a linkage.
        """
        check_links_folder(folder, answered=self.decisions is not None)

        def fill(place: Path) -> None:
            _write_tables(self, place)
            _write_texts(self, place, Path(folder))
            if also is not None:
                also(place)

        return write_found(self, folder, fill)

    def to_json(self) -> dict[str, Any]:
        """Numbers about the linkage as plain values; no value of the data."""
        found: dict[str, Any] = {
            "mode": self.spec.mode.value,
            "specification": "suggested" if self.suggested else "given",
            "seed": self.seed,
            "records": records_json(self),
            "comparisons_without_blocking": self.model.comparisons,
            "candidate_pairs": self.model.candidates,
            "pairs": len(self.pairs),
            "thresholds": thresholds_json(self),
            "outcomes": outcomes_json(self),
            "expected": self.expected,
            "persons": persons_json(
                self, CONTRADICTED if self.contradicted else self.unsupported, self.reviewed
            ),
            "one_per_source": {
                "declared": list(self.spec.one_per_source),
                "found": list(self.once),
            },
            "decisions": decisions_json(self),
            "warnings": list(self.warnings),
        }
        checked = self.checked
        if checked is not None:
            found["checks"] = {
                "drawn": checked.drawn,
                "answered": checked.answered,
                **{measure.name: measure.to_json() for measure in checked.quality or ()},
            }
        if self.reviewed is not None:
            found["review"] = self.reviewed.to_json()
        if self.person_ids.followed is not None:
            followed = self.person_ids.followed
            found["changes"] = {
                "merges": len(followed.merges),
                "splits": len(followed.splits),
                "persons_with_new_records": len(followed.gained),
                "new_persons": len(followed.new),
                "gone_persons": len(followed.gone),
            }
        return found

    @property
    def stated(self) -> tuple[Measure, ...]:
        """What answers say, or else the model: of the people, which scores of pairs are not."""
        inferred = self.settled.persons.inferred
        if self.reviewed is not None and self.reviewed.learned.answered:
            return tuple(self.reviewed.quality)
        if self.contradicted or inferred is None or not self.found_any:
            return ()
        return tuple(inferred.stated)

    def lines(self) -> list[str]:
        """The linkage in a few lines."""
        settled, at = self.settled, self.thresholds
        sources = ", ".join(
            f"{name} {len(ids):,}"
            for name, ids in zip(self.records.sources, self.records.ids, strict=True)
        )
        found = outcomes_json(self)
        about = f", about {settled.workload.found_in_review:,.1f} of them true"
        about = about if self.told else ""
        lines = [
            f"Records           {self.records.count:,} ({sources}), {self.spec.mode.value}",
            f"Candidate pairs   {self.model.candidates:,} of {self.model.comparisons:,}",
            f"Matches           {found['match']:,} (score from {at.upper:.4g})",
            f"Possible matches  {found['possible_match']:,} (score from {at.lower:.4g}){about}",
            f"People            {settled.persons.count:,}",
        ]
        if self.once:
            lines.append(f"One per source    {', '.join(self.once)} (found: no duplicates within)")
        lines += _of_persons(self)
        return [*lines, *_checked(self), *_decided(self), *_followed(self)]

    def _repr_html_(self) -> str:
        return as_html(self, self.warnings)


_LABELLED = 18
"""Letters of a line before what it says."""


def _worst(found: Found) -> str:
    """What people have yet to look at, and how sure the rest is."""
    said = f"undecided: {counted(outcomes_json(found)['possible_match'], 'possible match')}"
    quality = found.stated
    if not quality or not np.isfinite([each.value for each in quality]).all():
        return f"{said}; how many of the links are right is not measured."
    precision, recall = quality
    return (
        f"{said}; expected: {between(recall)} of true pairs joined, "
        f"{between(precision)} of links right."
    )


def as_html(found: Found, warnings: Sequence[str], score: str = "probability") -> str:
    """A linkage for a notebook: its lines as a table, and the scores of its pairs as a picture."""
    rows = [(line[:_LABELLED].rstrip(), line[_LABELLED:]) for line in found.lines()]
    made = styled_table("Linkage", ("what", "found"), rows)
    if len(found.pairs):
        counts = np.histogram(found.pairs.score, bins=np.linspace(0, 1, 11))[0]
        labels = [f"{score} {low / 10:.1f} to {(low + 1) / 10:.1f}" for low in range(10)]
        shares = (counts / counts.sum()).tolist()
        made += bars("Pairs by their score", labels, {"share of the pairs that were kept": shares})
    return lead(_worst(found)) + made + notes(warnings)


def decisions_json(links: Links) -> dict[str, Any]:
    """What people decided, and what cannot all be true, by pairs and records' numbers."""
    verdicts, persons = links.settled.verdicts, links.settled.persons
    return {
        "answers": 0 if links.decisions is None else len(links.decisions),
        "decided_pairs": int(np.count_nonzero(verdicts.result)),
        "undecided_pairs": int(np.count_nonzero(verdicts.result == 0)),
        "gave_way": len(persons.unmet),
        "matches_kept_apart": len(persons.refused),
        "contradictions": [
            {
                "different": None
                if contradiction.different is None
                else _pair(links, contradiction.different),
                "same": [_pair(links, verdict) for verdict in contradiction.chain],
            }
            for contradiction in links.settled.contradictions
        ],
    }


def _pair(links: Links, verdict: int) -> str:
    number = int(links.settled.verdicts.pair[verdict])
    return f"p{number + 1}" if number >= 0 else "a pair of an earlier linkage"


def _of_persons(links: Links) -> list[str]:
    """What is expected of the persons, or why nothing is."""
    inferred = links.settled.persons.inferred
    if links.reviewed is not None and links.reviewed.learned.answered:
        return links.reviewed.lines()
    if links.contradicted:
        return []
    if inferred is None:
        return [f"Expected          unknown: {links.unsupported}"]
    if not links.found_any:
        return [f"Expected          precision unknown: {NOTHING_JOINED}"]
    precision, recall = (
        f"{measure.name} {percent(measure.value)} ({between(measure)})"
        for measure in inferred.stated
    )
    of = "of the people" if inferred.across is None else "of the pairs across sources"
    lines = [f"Expected          {precision},", f"                  {recall} {of}"]
    # Where each source has one record a person, none could be joined within it.
    elsewhere = set(links.records.sources) - set(links.once)
    if inferred.across is not None and inferred.within is not None and elsewhere:
        right, there = (percent(each.value) for each in inferred.within)
        lines.append(f"Within sources    precision {right}, recall {there}")
    return lines


def percent(share: float) -> str:
    """A share in per cent; 100 and 0 only if exact, as an expectation hardly ever is."""
    return percentage(share, 2)


def between(share: Measure) -> str:
    """The ends of a share's interval; the share where it has none."""
    if share.low is None or share.high is None:
        return percent(share.value)
    return f"{percent(share.low)} to {percent(share.high)}"


def _checked(links: Links) -> list[str]:
    checked = links.checked
    if checked is None:
        return []
    lines = [f"Checks            {checked.answered:,} of {counted(checked.drawn, 'pair')} answered"]
    lines += [
        f"By checks         {measure.name} {percent(measure.value)} ({between(measure)})"
        for measure in checked.quality or ()
    ]
    if links.contradicted:
        lines.append(
            f"Contradicted      the model's {' and '.join(links.contradicted)}, so nothing that it "
            "expects is shown"
        )
    return lines


def _decided(links: Links) -> list[str]:
    if links.decisions is None:
        return []
    said = decisions_json(links)
    lines = [f"Decisions         {counted(said['decided_pairs'], 'pair')} decided, "]
    lines[0] += f"{said['undecided_pairs']:,} left open, {said['gave_way']:,} not believed"
    inferred = links.settled.persons.inferred
    if links.reviewed is None and inferred is not None and inferred.weighed is not None:
        lines.append("                  weighed as evidence, in what is expected, too")
    for contradiction in said["contradictions"]:
        against = (
            f"{contradiction['different']} different"
            if contradiction["different"]
            else "one per source"
        )
        lines.append(f"Contradiction     {', '.join(contradiction['same'])} same, but {against}")
    return lines


def _followed(links: Links) -> list[str]:
    followed = links.person_ids.followed
    if followed is None:
        return []
    said = f"People before     {len(followed.merges):,} merged, {len(followed.splits):,} split, "
    new = counted(len(followed.new), "new person")
    return [f"{said}{len(followed.gained):,} with new records; {new}"]


_LINKED_HEADER = """\
# What each column of linked.parquet is. Read and edit it: only you know what an intruder may know.
"""
_SPEC_HEADER = "# What was linked, and how. --spec takes this file.\n"


def check_links_folder(folder: str | os.PathLike[str], *, answered: bool = False) -> None:
    """Refuse a folder that a linkage, with its answers or without, must not be written to."""
    check_target_folder(folder)
    path = Path(folder)
    if not path.is_dir() or not any(path.iterdir()):
        return
    subject = f"output {path.name or path}"
    if not (path / linkage_files.MANIFEST).is_file():
        raise InputError(
            subject,
            "must be a new or empty folder, or that of a linkage",
            found="a folder with other files",
            advice="choose another one",
        )
    # Answers are hours of people's work, and nothing could make them again.
    if (path / linkage_files.ANSWERS).exists() and not answered:
        raise InputError(
            subject,
            "must not hold answers of people",
            found=f"a linkage with {linkage_files.ANSWERS}",
            advice="choose another folder; give this one as the previous linkage if they are to "
            "hold",
        )


def write_found(found: Found, folder: str | os.PathLike[str], fill: Callable[[Path], None]) -> Path:
    """Write pairs, persons, the linked file and the manifest of any linkage.

    The folder is made if it does not exist; other files in it are kept.
    """
    with atomic_folder(folder) as place:
        for name, table in (
            (linkage_files.PAIRS, found.pairs_table),
            (linkage_files.PERSONS, found.persons),
            (linkage_files.LINKED, found.linked),
        ):
            write_table(table, place / name)
        fill(place)
        written = sorted(path.name for path in place.iterdir() if path.is_file())
        hashes = {name: file_hash(place / name) for name in written}
        replace(found.manifest, files={**found.manifest.files, **hashes}).write(
            place / linkage_files.MANIFEST
        )
        found.secret.write(
            place / linkage_files.FOR_REPEATING
        )  # after the manifest, which hashes files
    return Path(folder)


def write_linked_schema(linked: LinkedSchema, place: Path, folder: Path) -> None:
    """Write what each column of the linked file is; its files are named from where it will be."""
    moved = linked.schema.with_files(lambda path: _beside(path, folder))
    text = dump_schema(moved, linked.notes)
    write_text(place / linkage_files.LINKED_SCHEMA, _LINKED_HEADER + text)


def _write_tables(links: Links, place: Path) -> None:
    analytic = links.analytic.columns
    record = free_name(RECORD, analytic.column_names)
    tables = {
        linkage_files.REVIEW: links.review,
        # A zero byte, since a comparison may have any name that can be read.
        linkage_files.LEVELS: pa.table({"\0block": links.pairs.block, **links.pairs.levels}),
        linkage_files.ANALYTIC: analytic.add_column(0, record, pa.array(links.analytic.record)),
    }
    if links.settled.persons.inferred is not None:
        tables[linkage_files.DRAWS] = links.persons_draws
    if links.checks is not None:
        tables[linkage_files.CHECKS] = links.checks.table
    if links.decisions is not None:
        tables[linkage_files.ANSWERS] = answers_table(links.decisions, links.records)
    if links.person_ids.followed is not None:
        tables[linkage_files.CHANGES] = _changes(links.person_ids.followed, links.person_ids.names)
    for name, table in tables.items():
        write_table(table, place / name)
    if links.identifying is not None:
        write_identifying(links.identifying, place / linkage_files.IDENTIFYING)


def _write_texts(links: Links, place: Path, folder: Path) -> None:
    if links.origin is not None:
        # Copied, as the comments that people wrote into them would be lost in new ones.
        for name in (linkage_files.MODEL, linkage_files.SPEC, linkage_files.LINKED_SCHEMA):
            shutil.copyfile(links.origin / name, place / name)
        return
    links.model.save(place / linkage_files.MODEL)
    spec = links.spec
    if spec.nicknames is not None:
        spec = spec.model_copy(update={"nicknames": _beside(spec.nicknames, folder)})
    write_text(place / linkage_files.SPEC, _SPEC_HEADER + dump_link_spec(spec, links.notes))
    write_linked_schema(links.linked_schema, place, folder)


def _beside(file: Path, folder: Path) -> Path:
    # Relative, so that the folder and the files beside it can be moved together.
    return Path(os.path.relpath(file, folder))


def _changes(followed: Followed, names: tuple[str, ...]) -> pa.Table:
    """Merges and splits by ids: one row for each old person merged and each new part."""
    rows = [("merge", merge.person, other) for merge in followed.merges for other in merge.of]
    rows += [("split", split.person, person) for split in followed.splits for person in split.into]
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    return pa.table(
        {
            "change": pa.array(columns[0], pa.string()),
            "person": pa.array([names[number] for number in columns[1]], pa.string()),
            "other": pa.array([names[number] for number in columns[2]], pa.string()),
        }
    )
