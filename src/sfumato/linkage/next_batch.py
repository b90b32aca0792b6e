"""The next pairs for people to answer: drawn, recorded beside the linkage, written for a review."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core import declaration
from sfumato.core.arrays import Ints
from sfumato.core.atomic import all_or_none, atomic_folder, check_target_folder
from sfumato.core.cluster_questions import CLUSTERS, ClusterQuestions
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted
from sfumato.linkage import linkage_files, review_pairs, review_sample
from sfumato.linkage.answer_evidence import change_by_answer
from sfumato.linkage.earlier_linkage import Earlier, read_earlier, settled_again
from sfumato.linkage.link_options import NextPairs
from sfumato.linkage.link_spec import Mode
from sfumato.linkage.linkage_manifest import file_hash
from sfumato.linkage.match_decisions import join_workers
from sfumato.linkage.match_thresholds import Codes, Pairs, joined
from sfumato.linkage.person_clusters import Settled
from sfumato.linkage.reviewed_persons import Reviewed
from sfumato.linkage.reviewed_rates import BY_CHANGE
from sfumato.table.table_files import write_table


@dataclass(frozen=True)
class Batch:
    """A batch that was written.

    It has pairs that nobody has answered, and some for another clerk to answer.
    """

    pairs: int
    again: int
    clusters: int
    reviewed: Reviewed

    def to_json(self) -> dict[str, Any]:
        """Numbers about it as plain values."""
        counts = {"pairs": self.pairs, "asked_again": self.again, "clusters": self.clusters}
        return {**counts, "review": self.reviewed.to_json()}

    def __str__(self) -> str:
        """The batch in a few lines."""
        batch = (
            f"Batch             {counted(self.pairs, 'pair')}, {counted(self.clusters, 'cluster')}"
        )
        batch += f"; {counted(self.again, 'pair')} again, for another clerk" if self.again else ""
        return "\n".join([batch, *self.reviewed.lines()])


DRAWN = 1
"""The stream of a review's seed that pairs are drawn from."""


def next_batch(
    folder: str | os.PathLike[str],
    output: str | os.PathLike[str],
    wanted: NextPairs,
    progress: declaration.Progress = declaration.silent,
) -> Batch:
    """Draw the next pairs, and write a folder that ``sfumato open`` shows.

    The linkage's folder records each pair with its stratum and the chance of being drawn; pairs
    that no blocking rule brought together join its pairs, with a score of 0. Both folders are
    written whole, or neither.

    Parameters
    ----------
    output
        Where the batch goes; a new or empty folder.
    """
    _check_output(Path(output))
    progress("draw", 0.0)
    earlier = read_earlier(folder)
    if earlier.identifying is None:
        raise InputError(
            f"folder {earlier.folder.name or earlier.folder}",
            f"must hold {linkage_files.IDENTIFYING}",
            found="none",
            advice="link again with this version of sfumato",
        )
    identifying = pq.read_table(earlier.identifying)
    number = int(earlier.asked.batch.max(initial=0)) + 1
    earlier, wider = begun(earlier, identifying, wanted, number)
    progress("draw", 0.5)
    after, batch, reviewed = drawn(earlier, wider, wanted.pairs, number)
    clusters = doubtful_clusters(earlier, reviewed, wanted.clusters)
    batch = np.concatenate([batch, *(cluster[~np.isin(cluster, batch)] for cluster in clusters)])
    with all_or_none():
        _write_batch(earlier, after.pairs, batch, clusters, identifying, Path(output))
        _record(earlier, after.pairs, after.asked, number)
    progress("draw", 1.0)
    before = join_workers(earlier.answers, earlier.pairs).pair
    again = int(np.count_nonzero(np.isin(batch, before)))
    return Batch(len(batch), again, len(clusters), reviewed)


def begun(
    earlier: Earlier, identifying: pa.Table, wanted: NextPairs, number: int
) -> tuple[Earlier, review_sample.Wider]:
    """The linkage with what stays as it is while people answer, and pairs of wider blocks."""
    review = dict(earlier.manifest.review)
    if not review:
        review = {"seed": declaration.drawn_seed(wanted.seed), "half_width": 0.0, "batches": 0}
    wider = _wider(earlier, identifying, _stream(review["seed"], number))
    # Kept from the first batch: strata stay as they are while people answer.
    review.setdefault("wider_pairs", wider.size.tolist())
    review.setdefault("wider_odds", review_sample.odds_of_lost(wider, earlier.model.lost).tolist())
    review["half_width"] = wanted.half_width
    return replace(earlier, manifest=replace(earlier.manifest, review=review)), wider


def _stream(seed: int, number: int) -> np.random.Generator:
    # A stream of each batch: what is drawn does not depend on how many numbers earlier ones took.
    return np.random.default_rng([int(seed), DRAWN, number])


def drawn(
    earlier: Earlier, wider: review_sample.Wider, size: int, number: int
) -> tuple[Earlier, Ints, Reviewed]:
    """Draw a batch: the linkage with its pairs, their numbers, and what answers so far say.

    Pairs of batches before that nobody has answered are among them.
    """
    rng = _stream(earlier.manifest.review["seed"], number).spawn(1)[0]
    sample = earlier.reviewed
    settled, reviewed = settled_again(earlier, earlier.answers)
    assert sample is not None
    assert reviewed is not None
    verdicts = settled.verdicts
    # What was drawn and not answered is asked again: leaving it out would bias towards easy pairs.
    open_pairs = np.setdiff1d(earlier.asked.pair, verdicts.pair)
    size = max(size - len(open_pairs), 0)
    again = asked_again(earlier, settled, int(BY_CHANGE * size))
    left, right, stratum, chance, foretold = sample.draw(
        earlier.asked, verdicts, reviewed.learned.rates, wider, size - len(again), rng
    )
    pairs, new = with_pairs(earlier.pairs, left, right, earlier.records.count)
    asked = earlier.asked.and_these(
        review_sample.Asked(new, stratum, np.full(len(new), number), chance, foretold)
    )
    # Mixed, so that the order tells neither stratum nor score.
    batch = rng.permutation(np.concatenate([open_pairs, again, new]))
    reviewed = replace(reviewed, asked=len(asked.pair))
    return earlier.with_review(pairs, asked, earlier.answers), batch, reviewed


_OPEN, _READINGS = 0.01, 3
"""Probability of either truth from which an answered pair is in doubt, and the number of answers
after which it is not asked again."""


def asked_again(earlier: Earlier, settled: Settled, most: int) -> Ints:
    """Answered pairs that are in doubt, those first that one more answer would change most.

    As `ReviewSample.draw` does, counted in pairs of records within persons. They are chosen and not
    drawn, and say nothing of others.
    """
    verdicts, weighed, answers = settled.verdicts, settled.weighed, earlier.answers
    if weighed is None or answers is None:
        return np.empty(0, dtype=np.int64)
    own, given = (
        review_sample.pair_key(each.left, each.right, earlier.records.count)
        for each in (verdicts, answers)
    )
    # Those of the same clerk, too: who was asked twice has nothing new to say.
    given = given[~answers.withdrawn & np.isin(given, own)]
    readings = np.bincount(np.searchsorted(own, given), minlength=len(own))
    doubt = np.minimum(weighed.probability, 1 - weighed.probability)
    person = settled.persons.person
    size, one, two = np.bincount(person), person[verdicts.left], person[verdicts.right]
    moved = np.where(one == two, size[one] - 1, size[one] * size[two])
    change = moved * change_by_answer(weighed.probability, weighed.error)
    open_ = np.flatnonzero((verdicts.pair >= 0) & (readings < _READINGS) & (doubt >= _OPEN))
    return verdicts.pair[open_[np.argsort(-change[open_], kind="stable")][:most]]


_DOUBTFUL = 0.05
"""Probability from which a pair that is not known belongs to a cluster in doubt."""
_MOST_OPEN = 10
"""Pairs of a cluster that people are asked at most; larger ones are too much for one look."""


def doubtful_clusters(earlier: Earlier, reviewed: Reviewed, wanted: int) -> list[Ints]:
    """Clusters of three records or more that answers would change most, each by its pairs.

    A cluster is what pairs join that may be matches. It is worth the number of pairs of records
    within persons that are expected to change, for each pair that is asked. These pairs are chosen
    and not drawn: what is decided by them is known, and says nothing of others.

    Returns
    -------
    list of numpy.ndarray
        Numbers of the pairs of each cluster, the most likely match first.
    """
    pairs, sample = earlier.pairs, earlier.reviewed
    assert sample is not None
    verdicts = join_workers(earlier.answers, pairs)
    known, _, node = sample.known(verdicts)
    likely = reviewed.learned.rates.probability
    doubtful = np.flatnonzero(
        ~known & (likely >= _DOUBTFUL) & (pairs.block != review_sample.NO_RULE)
    )
    left, right = node[pairs.left[doubtful]], node[pairs.right[doubtful]]
    cluster = joined(left, right, len(node))[left]
    # P(1 − P) for each record pair that an answer decides: those of both joined groups.
    change = likely[doubtful] * (1 - likely[doubtful]) * np.bincount(node)[left]
    change *= np.bincount(node)[right]
    asked = np.bincount(cluster)
    worth = np.bincount(cluster, change) / np.maximum(asked, 1)
    # One open pair is no cluster, and is drawn like any other.
    worth[(asked < 2) | (asked > _MOST_OPEN)] = 0.0
    best = np.argsort(-worth, kind="stable")[:wanted]
    found = [doubtful[cluster == number] for number in best[worth[best] > 0].tolist()]
    return [own[np.argsort(-likely[own], kind="stable")] for own in found]


def _check_output(output: Path) -> None:
    check_target_folder(output)
    if output.is_dir() and any(output.iterdir()):
        raise InputError(
            f"output {output.name or output}",
            "must be a new or empty folder",
            found="one with files",
            advice="give each batch a folder of its own",
        )


def _wider(
    earlier: Earlier, identifying: pa.Table, rng: np.random.Generator
) -> review_sample.Wider:
    """Pairs of wider blocks: of the compared columns' values as they were given, case aside."""
    names = [
        n
        for n in _shown_names(earlier, identifying)
        if identifying[n].null_count < len(identifying)
    ]
    order = rows_of_records(earlier, identifying)
    weights = earlier.model.weights
    values, bits = [], []
    for name in names:
        # As given, not standardised: a review shows these values, and the folder holds no others.
        text = pc.utf8_lower(pc.utf8_trim_whitespace(identifying[name].take(pa.array(order))))
        code = text.combine_chunks().dictionary_encode().indices
        values.append(np.asarray(pc.fill_null(code, -1), dtype=np.int64))
        own = sorted((w for w in weights if w.comparison == name), key=lambda w: w.level)
        bits.append((own[-1].weight, own[0].weight) if own else _USUAL_BITS)
    sample = earlier.sample(np.empty(0, np.int64), np.empty(0))
    return review_sample.wider_blocks(
        values, earlier.records, earlier.pairs, sample.person, sample.limited, rng,
        within=earlier.spec.splink is not None or earlier.spec.mode is not Mode.LINK_ONLY,
        bits=bits,
    )  # fmt: skip


_USUAL_BITS = (5.0, -2.0)
"""Match weight of a column that agrees, and of one that does not, where the model has none."""


def _shown_names(earlier: Earlier, identifying: pa.Table) -> list[str]:
    """The columns that are compared, as the file names them; all where it names none of them."""
    every = [str(name) for name in identifying.column_names[2:]]
    compared = {n for n, column in earlier.spec.columns.items() if column.compare}
    return [name for name in every if name in compared] or every


def rows_of_records(earlier: Earlier, identifying: pa.Table) -> Ints:
    """Row of each record in the file."""
    number = review_pairs.find_records(
        earlier.records, identifying[review_pairs.SOURCE], identifying[review_pairs.ID]
    )
    row = np.empty(earlier.records.count, dtype=np.int64)
    row[number] = np.arange(len(number))
    return row


def with_pairs(pairs: Pairs, left: Ints, right: Ints, records: int) -> tuple[Pairs, Ints]:
    """The pairs with others behind them where those are new, and the numbers of those given."""
    key, given = pairs.left * records + pairs.right, left * records + right
    new = np.flatnonzero(~np.isin(given, key))
    count = len(new)

    def longer(column: npt.NDArray[Any], value: float) -> npt.NDArray[Any]:
        return np.concatenate([column, np.full(count, value, dtype=column.dtype)])

    more = Pairs(
        np.concatenate([pairs.left, left[new]]),
        np.concatenate([pairs.right, right[new]]),
        longer(pairs.score, 0.0),
        {name: longer(level, -1) for name, level in pairs.levels.items()},
        longer(pairs.block, review_sample.NO_RULE),
    )
    key = np.concatenate([key, given[new]])
    order = np.argsort(key)
    return more, order[np.searchsorted(key[order], given)].astype(np.int64)


def _write_batch(
    earlier: Earlier,
    pairs: Pairs,
    batch: Ints,
    clusters: list[Ints],
    identifying: pa.Table,
    output: Path,
) -> None:
    """The folder that people look at: the pairs without their scores."""
    listed = _listed(earlier, pairs).take(pa.array(batch))
    row = rows_of_records(earlier, identifying)
    columns: dict[str, Any] = {name: listed[name] for name in ("pair", "source_l", "source_r")}
    for name in identifying.column_names[2:]:
        for side, record in (("l", pairs.left[batch]), ("r", pairs.right[batch])):
            columns[f"{name}_{side}"] = identifying[name].take(pa.array(row[record]))
    with atomic_folder(output) as place:
        write_table(pa.table(columns), place / linkage_files.REVIEW)
        write_table(listed, place / linkage_files.PAIRS)
        questions = ClusterQuestions(
            tuple(tuple(review_pairs.pair_ids(cluster).to_pylist()) for cluster in clusters)
        )
        questions.write(place / CLUSTERS)
        assert earlier.identifying is not None
        review_pairs.write_identifying(earlier.identifying, place / linkage_files.IDENTIFYING)
        for name in (linkage_files.SPEC, linkage_files.MANIFEST):
            shutil.copyfile(earlier.folder / name, place / name)


def _listed(earlier: Earlier, pairs: Pairs) -> pa.Table:
    """What pairs.parquet holds, outcomes as they stand."""
    outcome: Codes = np.zeros(len(pairs), dtype=np.int8)
    there = pq.read_table(earlier.folder / linkage_files.PAIRS, columns=["outcome"])["outcome"]
    table = review_pairs.pairs_table(earlier.records, pairs, outcome)
    words = pa.chunked_array([*there.chunks, table["outcome"].slice(len(there)).combine_chunks()])
    return table.set_column(table.column_names.index("outcome"), "outcome", words)


def _record(earlier: Earlier, pairs: Pairs, asked: review_sample.Asked, number: int) -> None:
    """Write beside the linkage what was drawn, and the pairs that are new to it."""
    drawn = {
        "pair": review_pairs.pair_ids(asked.pair),
        "stratum": pa.array(asked.stratum),
        "batch": pa.array(asked.batch),
        "probability": pa.array(asked.probability),
        "foretold": pa.array(asked.foretold),
    }
    tables = {
        linkage_files.ASKED: pa.table(drawn),
        linkage_files.PAIRS: _listed(earlier, pairs),
        linkage_files.LEVELS: pa.table({"\0block": pairs.block, **pairs.levels}),
    }
    with atomic_folder(earlier.folder) as place:
        for name, table in tables.items():
            write_table(table, place / name)
        if not len(earlier.asked.pair):
            shutil.copyfile(earlier.folder / linkage_files.PERSONS, place / linkage_files.REVIEWED)
        hashes = {path.name: file_hash(path) for path in sorted(place.iterdir())}
        files = {**earlier.manifest.files, **hashes}
        review = {**earlier.manifest.review, "batches": number}
        replace(earlier.manifest, files=files, review=review).write(place / linkage_files.MANIFEST)
