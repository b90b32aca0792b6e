"""Answers applied to an earlier linkage, and its model taken up again."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.arrays import Floats, Ints
from sfumato.core.errors import InputError, typed
from sfumato.core.secret_keys import Secret, read_secret
from sfumato.linkage import linkage_files, match_decisions
from sfumato.linkage.candidate_pairs import RulePairs
from sfumato.linkage.link_model import Model, load_model
from sfumato.linkage.link_spec import ColumnKind, LinkSpec, load_link_spec
from sfumato.linkage.linkage_manifest import ENCODINGS, LinkManifest, load_link_manifest, versions
from sfumato.linkage.linkage_quality import Checks
from sfumato.linkage.linkage_result import Links
from sfumato.linkage.linked_file import Analytic, LinkedSchema, name_persons
from sfumato.linkage.match_thresholds import Pairs, Records
from sfumato.linkage.person_clusters import Settled, limited_sources, settle
from sfumato.linkage.review_pairs import known_records, pairs_of_table
from sfumato.linkage.review_sample import DOUBT, NONE_ASKED, UNKNOWN, Asked, ReviewSample
from sfumato.linkage.reviewed_persons import Reviewed, learn
from sfumato.schema import Schema, load_schema


@dataclass(frozen=True, eq=False)
class Earlier:
    """A linkage in its folder; each file is read when it is first needed."""

    folder: Path
    manifest: LinkManifest
    records: Records
    person: pa.Array

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs, with comparison levels and blocks."""
        pairs = pairs_of_table(_table(self.folder / linkage_files.PAIRS), self.records)
        levels = _table(self.folder / linkage_files.LEVELS)
        return replace(
            pairs,
            levels={
                name: np.asarray(levels[name], dtype=np.int8) for name in levels.column_names[1:]
            },
            block=np.asarray(levels[levels.column_names[0]], dtype=np.int16),
        )

    @cached_property
    def secret(self) -> Secret:
        """Its secret; a fresh one where earlier versions wrote none."""
        path = self.folder / linkage_files.FOR_REPEATING
        if not path.exists():
            return Secret.of(None)
        return Secret(read_secret(path, f"file {linkage_files.FOR_REPEATING}"))

    @cached_property
    def answers(self) -> match_decisions.Decisions | None:
        """All answers so far."""
        path = self.folder / linkage_files.ANSWERS
        return match_decisions.read_answers(path, self.records) if path.exists() else None

    @cached_property
    def spec(self) -> LinkSpec:
        """The specification."""
        return load_link_spec(self.folder / linkage_files.SPEC)

    @cached_property
    def schema(self) -> Schema:
        """The schema of the linked file."""
        return load_schema(self.folder / linkage_files.LINKED_SCHEMA)

    @cached_property
    def model(self) -> Model:
        """The model, with what the manifest says of it."""
        of_manifest = self.manifest.model
        return replace(
            load_model(self.folder / linkage_files.MODEL),
            rules=tuple(RulePairs(rule["rule"], rule["pairs"]) for rule in of_manifest["blocking"]),
            comparisons=of_manifest["comparisons_without_blocking"],
            lost=of_manifest["expected_lost_to_blocking"],
            hidden=of_manifest.get("expected_within_sources", 0.0),
            impossible=dict(of_manifest["impossible_dates"]),
            notes=tuple(of_manifest["notes"]),
            engine=of_manifest.get("engine", "duckdb"),
            once=tuple(of_manifest.get("found_one_per_source", ())),
            by_relations=of_manifest.get("by_relations", False),
        )

    @cached_property
    def analytic(self) -> Analytic:
        """What is analysed of each record."""
        table = _table(self.folder / linkage_files.ANALYTIC)
        record, *names = table.column_names
        kinds = {n: ColumnKind(kind) for n, kind in self.manifest.quasi_identifiers.items()}
        return Analytic(np.asarray(table[record]), table.select(names), kinds)

    @cached_property
    def review(self) -> pa.Table:
        """The possible matches by score."""
        return _table(self.folder / linkage_files.REVIEW)

    @cached_property
    def identifying(self) -> Path | None:
        """The file of all records' identifying attributes; ``None`` where there is none."""
        path = self.folder / linkage_files.IDENTIFYING
        return path if path.is_file() else None

    @cached_property
    def checks(self) -> Checks | None:
        """The pairs that were drawn for checks, where some were."""
        if not self.manifest.checks:
            return None
        table = _table(self.folder / linkage_files.CHECKS)
        number = np.array([int(pair[1:]) - 1 for pair in table["pair"].to_pylist()], np.int64)
        given = self.manifest.checks
        return Checks(float(given["half_width"]), float(given["match"]), number, table)

    @cached_property
    def asked(self) -> Asked:
        """The pairs that `sfumato link next` has drawn so far."""
        if not self.manifest.review.get("batches"):
            return NONE_ASKED
        table = _table(self.folder / linkage_files.ASKED)
        columns = [
            np.asarray(table[name]) for name in ("stratum", "batch", "probability", "foretold")
        ]
        pair = [int(pair[1:]) - 1 for pair in table["pair"].to_pylist()]
        return Asked(np.array(pair, np.int64), *columns)

    def with_review(
        self, pairs: Pairs, asked: Asked, answers: match_decisions.Decisions | None
    ) -> Earlier:
        """The same with pairs, the linkage's first, those asked and answers that its files lack."""
        other = replace(self)
        known = {name: value for name, value in vars(self).items() if name != "reviewed"}
        # Cached properties live in `vars`: what was read stays, and what is given takes the files'
        # place.
        vars(other).update(known | {"pairs": pairs, "asked": asked, "answers": answers})
        return other

    def sample(self, wider_size: Ints, wider_odds: Floats) -> ReviewSample:
        """The pairs that may be drawn for review.

        Of those in wider blocks number and log odds of a match are given.
        """
        person = self.person
        if self.manifest.review.get("batches"):
            # Those of the first batch: strata must not move with the answers.
            person = _table(self.folder / linkage_files.REVIEWED)["person"].combine_chunks()
        number = np.asarray(person.cast(pa.string()).dictionary_encode().indices, np.int64)
        # What was found counts like what was said, as persons were inferred by both.
        once = {*self.spec.one_per_source, *self.model.once}
        return ReviewSample(
            self.records,
            self.pairs,
            number,
            wider_size,
            wider_odds,
            DOUBT if self.model.by_relations else UNKNOWN,
            limited_sources(self.records, once),
            self.model.lost,
        )

    @cached_property
    def reviewed(self) -> ReviewSample | None:
        """The same as when the first batch was drawn; ``None`` where none was."""
        if not self.manifest.review:
            return None
        wider = [np.array(self.manifest.review[name]) for name in ("wider_pairs", "wider_odds")]
        return self.sample(wider[0].astype(np.int64), wider[1].astype(np.float64))

    def check_key(self, key: bytes | None) -> None:
        """Refuse to go on without the key that its ids were made with, or with one of others."""
        if self.manifest.keyed and key is None:
            raise InputError(
                "the earlier linkage",
                "has ids that were made with a key",
                found="no key",
                advice=f"give it again, as {typed('pseudonym_key', '--key-file')}",
            )
        if key is not None and not self.manifest.keyed:
            raise InputError(
                "the earlier linkage",
                "has random ids, which no key continues",
                found="a key",
                advice="leave the key out",
            )

    def numbers_in(self, records: Records) -> Ints:
        """Number of each of its records among others, -1 where it is not there."""
        names = pa.array(self.records.sources, pa.string())
        every = np.arange(self.records.count)
        source = pa.chunked_array([names.take(pa.array(self.records.source_of(every)))])
        ids = pa.chunked_array(list(self.records.ids), pa.large_string())
        return known_records(records, source, ids)


def read_earlier(folder: str | os.PathLike[str]) -> Earlier:
    """Open the folder of a linkage that `Links.write` or ``sfumato link`` wrote."""
    place = Path(folder)
    if not (place / linkage_files.MANIFEST).is_file():
        raise InputError(
            f"folder {place.name or place}",
            "must be one that sfumato link wrote",
            found=f"no {linkage_files.MANIFEST} in it" if place.is_dir() else "no such folder",
        )
    manifest = load_link_manifest(place / linkage_files.MANIFEST)
    if ENCODINGS in manifest.model:
        raise InputError(
            f"folder {place.name or place}",
            "must hold a linkage of clear tables",
            found="one of encodings, which no person can review or continue",
            advice="link the encodings again",
        )
    table = _table(place / linkage_files.PERSONS)
    source = table["source"].combine_chunks()
    ids = table["id"].cast(pa.large_string()).combine_chunks()
    own = tuple(ids.filter(pc.equal(source, name)) for name in manifest.sources)
    return Earlier(
        place,
        manifest,
        Records(tuple(manifest.sources), own),
        table["person"].cast(pa.string()).combine_chunks(),
    )


def _table(path: Path) -> pa.Table:
    try:
        return pq.read_table(path)
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(
            f"file {path.name}",
            "must be there and whole",
            found="none, or another or a cut one",
            advice="the files of a linkage belong together; link again",
        ) from None


def apply_decisions(
    folder: str | os.PathLike[str],
    decisions: str | os.PathLike[str],
    *,
    afresh: bool = False,
    believed: bool = True,
    pseudonym_key: bytes | None = None,
) -> Links:
    """The linkage of a folder with decisions: outcomes, persons and the linked file again.

    Nothing is written; `Links.write` does. No table of a source is opened. A person keeps the id
    of the person who shares the most records.

    Parameters
    ----------
    decisions
        File of answers about its pairs. Answers applied before hold too, unless they are in here
        again, withdrawn or changed.
    believed
        Whether the answers are evidence of who is one person; else they decide who is joined, and
        the persons are held against what the scores alone say.
    """
    earlier = read_earlier(folder)
    earlier.check_key(pseudonym_key)
    answers = match_decisions.read_decisions(Path(decisions), earlier.pairs)
    if earlier.answers is not None and not afresh:
        answers = match_decisions.each_once(match_decisions.together(earlier.answers, answers))
    settled, reviewed = settled_again(earlier, answers)
    # Answers that decided who is joined cannot also be the evidence that it is right.
    if not believed and settled.persons.inferred is not None:
        alone = settled_again(earlier, None)[0].persons.inferred
        assert alone is not None  # both are inferred by the same model
        persons = replace(settled.persons, inferred=alone.of(settled.persons.person))
        settled = replace(settled, persons=persons)
    ids = name_persons(
        earlier.records,
        settled.persons.person,
        # Bound to the answers: the same ones give the same ids, others do not show which persons
        # changed.
        earlier.secret.bound(_digest(answers)),
        key=pseudonym_key,
        previous=earlier.person.to_pylist(),
    )
    return Links(
        records=earlier.records,
        pairs=earlier.pairs,
        settled=settled,
        person_ids=ids,
        analytic=earlier.analytic,
        linked_schema=LinkedSchema(earlier.schema, {}),
        review=earlier.review,
        identifying=earlier.identifying,
        spec=earlier.spec,
        suggested=False,
        notes={},
        model=earlier.model,
        decisions=answers,
        checks=earlier.checks,
        reviewed=reviewed,
        manifest=replace(earlier.manifest, thresholds=settled.thresholds, versions=versions()),
        origin=earlier.folder,
        secret=earlier.secret,
    )


def settled_again(
    earlier: Earlier, answers: match_decisions.Decisions | None
) -> tuple[Settled, Reviewed | None]:
    """Outcomes and persons with answers, and what a review says of them where one was begun.

    Rates are estimated again by the answers to the pairs that were drawn. Where matches by score
    join records, scores are corrected by them; where persons are inferred, decisions alone change
    them: rates hold for pairs whose other pairs speak, too, and scores are before that. The same
    answers give the same result.
    """
    sample = earlier.reviewed
    scored = None

    def settled_with(answers: match_decisions.Decisions | None) -> Settled:
        return settle(
            earlier.records, earlier.pairs, earlier.spec, answers,
            lost=earlier.model.lost,
            hidden=earlier.model.hidden,
            inferred=earlier.model.by_relations,
            once=earlier.model.once,
            probability=scored,
        )  # fmt: skip

    settled = settled_with(answers)
    if sample is None:
        return settled, None
    weighed = settled.verdicts, settled.weighed
    if settled.weighed is not None and not earlier.model.by_relations:
        learned = learn(sample, earlier.asked, weighed, sample.person, None, _learning(earlier))
        scored = learned.rates.probability if learned.answered else None
        settled = settled_with(answers)
        weighed = settled.verdicts, settled.weighed
    person, inferred = settled.persons.person.astype(np.int64), settled.persons.inferred
    draws = None if inferred is None else inferred.draws
    alone = None if scored is None else settled_with(None).persons.person.astype(np.int64)
    learned = learn(sample, earlier.asked, weighed, person, draws, _learning(earlier), alone=alone)
    half_width = float(earlier.manifest.review["half_width"])
    return settled, Reviewed(len(earlier.asked.pair), learned, half_width)


LEARNED = 0
"""The stream of a review's seed that rates are drawn from."""


def _learning(earlier: Earlier) -> np.random.Generator:
    return np.random.default_rng([earlier.manifest.review["seed"], LEARNED])


def _digest(answers: match_decisions.Decisions) -> bytes:
    """What other answers do not have, so that no id is given twice."""
    digest = hashlib.sha256()
    for column in (answers.left, answers.right, answers.answer, answers.time, answers.withdrawn):
        digest.update(column.tobytes())
    return digest.digest()
