"""What a review will cost and find, worked out before anybody begins."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Floats
from sfumato.core.declaration import Progress
from sfumato.core.errors import InputError
from sfumato.review.anonymity_database import Database
from sfumato.review.disclosure_account import Modes, Review
from sfumato.review.hints import Agreement, Evidence, evidence_of, hints, probability, read
from sfumato.review.review_project import ID, LEFT, RIGHT, SOURCE, Project, index_of, review_of
from sfumato.review.review_settings import (
    Mode,
    Rarity,
    RenderedPair,
    Settings,
    Status,
    plain_settings,
)
from sfumato.review.review_sources import OpenedFolder, open_folder, read_text_table, with_gold
from sfumato.review.worker_state import Charge, Opening, Reason, Refusal, WorkerState, openings_of


@dataclass(frozen=True)
class Frequencies:
    """What agreement on a value says beyond agreement on any value.

    Attributes
    ----------
    of_value
        Per attribute and value in full: log of average probability of agreeing by chance over
        the value's own share.
    """

    of_value: tuple[Mapping[str, float], ...]
    of_band: tuple[Mapping[Rarity, float], ...]


def frequencies_of(database: Database) -> Frequencies:
    """The frequencies of a database's values, as a list of names would tell them.

    A value of share f is agreed on by one person's two records with probability f, by two
    persons' with f², all values together with S = Σf²: log(S / f) is what it adds.
    """
    values, bands = zip(
        *(_of(database, place) for place in range(len(database.attributes))), strict=True
    )
    return Frequencies(tuple(values), tuple(bands))


def _of(database: Database, place: int) -> tuple[dict[str, float], dict[Rarity, float]]:
    first = int(database.base[place])
    codes = database.codes[:, place]
    held = codes[codes >= 0] - first
    if not len(held):
        return {}, {}
    # f of each value among the records that have one.
    share = np.bincount(held, minlength=len(database.texts[place])) / len(held)
    chance = float(np.sum(share**2))
    records = np.unique(held, return_index=True)[1]
    rows = np.flatnonzero(codes >= 0)[records]
    of_value, in_band = {}, {band: [0.0, 0.0] for band in Rarity}
    for code, row in zip(np.unique(held).tolist(), rows.tolist(), strict=True):
        value, band = database.value(row, place), database.rarity(row, place)
        if value is None or band is None:
            continue
        part = float(share[code])
        characters = [
            value.characters[each] if isinstance(each, int) else each for each in value.layout
        ]
        # log(S / f): LR of this value f / f² over that of any value 1 / S.
        of_value["".join(characters)] = math.log(chance / part)
        in_band[band][0] += part
        in_band[band][1] += part**2
    of_band = {
        # A band only tells that the value is in it: Σ f over Σ f² / S, both over the band's values.
        band: math.log(match / (other / chance))
        for band, (match, other) in in_band.items()
        if other
    }
    return of_value, of_band


class SimulatedWorker:
    """Judges pairs by their renderings; true values that are not disclosed never reach it.

    Parameters
    ----------
    certainty
        It opens cells, the worthiest first, until the probability of its answer is at least
        this, in [0.5, 1]; 0.5 opens nothing.
    """

    def __init__(self, evidence: Evidence, frequencies: Frequencies, certainty: float) -> None:
        self.evidence, self.frequencies, self.certainty = evidence, frequencies, certainty

    def belief(self, rendered: RenderedPair) -> float:
        """Probability that a pair is one person's, by all that its rendering shows."""
        odds = math.log(self.evidence.prior / (1 - self.evidence.prior))
        for place, attribute in enumerate(rendered):
            evidence, reading = self.evidence.attributes[place], read(attribute)
            if evidence is None:
                continue
            odds += evidence.log_odds(reading)
            if reading.agreement is not Agreement.SAME:
                continue
            if reading.value is not None:
                odds += self.frequencies.of_value[place].get(reading.value, 0.0)
            elif reading.rarity is not None:
                odds += self.frequencies.of_band[place].get(reading.rarity, 0.0)
        return probability(odds)

    def judge(self, worker: WorkerState, pair: int) -> float | None:
        """Look at a pair, open what is worth it, and say how likely it is one person's.

        ``None`` if the pair may not be shown at all.

        Parameters
        ----------
        worker
            Where it is shown and charged.
        """
        # Budget and floor hold for the simulated worker as for people.
        if isinstance(worker.show(pair), Refusal):
            return None
        while True:
            now = self.belief(worker.render(pair))
            if max(now, 1 - now) >= self.certainty:
                return now
            openings = hints(worker, pair, self.evidence)
            if not openings or isinstance(worker.open(pair, openings[0].opening), Refusal):
                return now


CERTAINTIES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 1.0)
"""The certainties at which the worker stops opening cells."""


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the curve.

    Attributes
    ----------
    certainty
        At which the worker stopped opening cells; ``None`` where everything was opened.
    kapr
        KAPR of all that was shown.
    characters
        Share of the characters that were disclosed.
    same_as_full
        Share of the answers that were the same as with everything disclosed.
    accuracy
        Share of the answers that were right, ``None`` where the truth is not known.
    judged
        Pairs that were judged; fewer than all where the budget or the floor refused to show one.
    """

    certainty: float | None
    kapr: float
    characters: float
    same_as_full: float
    accuracy: float | None
    judged: int


def trade_off(
    review: Review,
    pairs: Sequence[int],
    evidence: Evidence,
    truth: Mapping[int, bool] | None = None,
    certainties: Sequence[float] = CERTAINTIES,
    progress: Progress | None = None,
) -> tuple[Point, ...]:
    """Accuracy against disclosure: one point per certainty, and one with all that may be shown.

    Parameters
    ----------
    review
        The pairs and the rules; budget and floor hold for the simulated worker, too.
    certainties
        The certainties at which the worker stops opening cells, each in [0.5, 1].
    """
    # The probability of the answer given is never below ½.
    if not pairs or any(not 0.5 <= each <= 1 for each in certainties):
        raise InputError("a simulated review", "must have pairs, and certainties in [0.5, 1]")
    frequencies = frequencies_of(review.index.database)
    full, disclosed = _with_everything(review, pairs, evidence, frequencies)
    points = []
    for step, certainty in enumerate(certainties):
        if progress is not None:
            progress("simulating workers", step / len(certainties))
        # A new worker at each point: what was seen at one certainty must not help at the next.
        worker = WorkerState(review, pairs)
        judge = SimulatedWorker(evidence, frequencies, certainty)
        answers = {pair: judge.judge(worker, pair) for pair in pairs}
        points.append(_point(certainty, worker, answers, full, truth))
    return (*points, _point(None, disclosed, full, full, truth))


def _with_everything(
    review: Review, pairs: Sequence[int], evidence: Evidence, frequencies: Frequencies
) -> tuple[dict[int, float | None], WorkerState]:
    worker, judge = WorkerState(review, pairs), SimulatedWorker(evidence, frequencies, 0.5)
    everything = Opening(tuple(range(len(review.attributes))), Mode.FULL)
    answers: dict[int, float | None] = {}
    for pair in pairs:
        answers[pair] = None
        if not isinstance(worker.show(pair), Refusal):
            if isinstance(worker.open(pair, everything), Refusal):
                # As much as budget and floor let through, cell by cell.
                for place in everything.attributes:
                    worker.open(pair, Opening((place,), Mode.FULL))
            answers[pair] = judge.belief(worker.render(pair))
    return answers, worker


def _point(
    certainty: float | None,
    worker: WorkerState,
    answers: Mapping[int, float | None],
    full: Mapping[int, float | None],
    truth: Mapping[int, bool] | None,
) -> Point:
    same = {pair: answer >= 0.5 for pair, answer in answers.items() if answer is not None}
    alike = [
        same[pair] == (each >= 0.5)
        for pair, each in full.items()
        if pair in same and each is not None
    ]
    right = None if truth is None else [same[p] == truth[p] for p in same if p in truth]
    return Point(
        certainty,
        worker.score,
        worker.characters,
        float(np.mean(alike)) if alike else 0.0,
        float(np.mean(right)) if right else None,
        len(same),
    )


MOST_PAIRS = 100
"""Pairs that are looked at: of more, so many are drawn at random."""


@dataclass(slots=True)
class AttributeOutlook:
    """What rules would do to one attribute; its cells are those that are not open at first.

    Attributes
    ----------
    cells
        Number of pairs in which it can be asked for.
    openable
        Those in which the floor k lets it be opened in full, on its own or once others are open:
        they may tell that no anonymity set is as small as it could be without them.
    cost
        KAPR, at most, of opening it in those, on its own where that may be.
    opened
        Those in which the budget holds it, too.
    """

    name: str
    cells: int = 0
    openable: int = 0
    cost: float = 0.0
    opened: int = 0


@dataclass(frozen=True, slots=True)
class Outlook:
    """What rules would do to the pairs of a review.

    Attributes
    ----------
    shown
        Those that may be shown at all.
    workable
        Those of them in which a cell is opened, or none is closed.
    spent
        KAPR of all that is opened.
    """

    pairs: int
    shown: int
    workable: int
    spent: float
    attributes: tuple[AttributeOutlook, ...]

    @property
    def cells(self) -> int:
        """Number of cells that are not open at first."""
        return sum(attribute.cells for attribute in self.attributes)

    @property
    def openable(self) -> int:
        """Those that the floor k lets be opened in full."""
        return sum(attribute.openable for attribute in self.attributes)

    @property
    def opened(self) -> int:
        """Those that the budget holds, too."""
        return sum(attribute.opened for attribute in self.attributes)

    @property
    def opened_per_pair(self) -> float:
        """The same as a mean over the pairs."""
        return self.opened / self.pairs

    @property
    def unworkable(self) -> int:
        """Number of pairs that are not shown, or in which nothing is opened."""
        return self.pairs - self.workable

    @property
    def mostly_unworkable(self) -> bool:
        """Whether these are most."""
        return 2 * self.unworkable > self.pairs

    @property
    def mostly_closed(self) -> bool:
        """Whether the floor k keeps most cells closed, whatever the budget."""
        return 2 * self.openable < self.cells


def outlook(review: Review, rng: np.random.Generator) -> Outlook:
    """What the rules of a review would do to its pairs.

    One worker goes through them and opens in each, the cheapest first, what the rules allow. The
    budget is spread evenly: no pair gets what the pairs behind it need. KAPR is a share of the
    task, so that it holds for whatever part of the pairs a worker is dealt. Of the workers' and
    the project's budget the smaller counts, as if all workers opened the same.

    Parameters
    ----------
    rng
        Source of randomness: which pairs are looked at.
    """
    chosen = np.sort(rng.permutation(review.pairs)[:MOST_PAIRS]).tolist()
    budgets = (review.settings.budget, review.settings.project_budget)
    # If all workers open the same, the combined state costs what one of them does.
    budget = min((each for each in budgets if each is not None), default=None)
    attributes = tuple(AttributeOutlook(attribute.name) for attribute in review.attributes)
    one_budget = review.with_budgets(budget, None)
    worker = WorkerState(one_budget, chosen)
    shown = workable = 0
    for number, pair in enumerate(chosen, 1):
        asked = openings_of(review.facts(pair), review.start(pair), None)
        closed = [each for each in asked if _is_cell(each)]
        for each in closed:
            attributes[each.attributes[0]].cells += 1
        worker.review = one_budget
        if isinstance(worker.show(pair), Refusal):
            continue
        if budget is not None:
            # The pair's even part of the budget, with what the pairs before have left.
            worker.review = review.with_budgets(budget * number / len(chosen), None)
        opened = _open(worker, pair, attributes)
        shown, workable = shown + 1, workable + (opened or not closed)
    return Outlook(len(chosen), shown, workable, worker.score, attributes)


def _is_cell(opening: Opening) -> bool:
    return len(opening.attributes) == 1 and opening.mode is Mode.FULL


def _open(worker: WorkerState, pair: int, attributes: tuple[AttributeOutlook, ...]) -> bool:
    """Open what the rules allow of a pair, and tell whether that is anything."""
    anything = False
    cells = [cost for cost in worker.costs(pair) if _is_cell(cost.opening)]
    # The cheapest first, so that the most cells are opened that a budget holds.
    for each in sorted(cells, key=lambda cell: cell.cost):
        attribute = attributes[each.opening.attributes[0]]
        charge = worker.open(pair, each.opening)
        # A budget can be raised; only the floor closes a cell for good.
        alone = each.refusal is None or each.refusal.reason is not Reason.FLOOR
        if alone or isinstance(charge, Charge):
            attribute.openable += 1
            attribute.cost += each.cost if alone else charge.cost
        if isinstance(charge, Charge):
            attribute.opened += 1
            anything = True
    return anything


def expected_units(
    review: Review, pairs: Sequence[int], readings: Iterable[tuple[int, Modes]]
) -> Floats:
    """What each pair is expected to cost a reader who has seen nothing else, in units.

    A cell is opened as often as cells of its attribute whose values compare alike were in the
    readings, and in one more that opens everything. Who opens a cell has opened those that are
    opened more often. What the floor k refuses stays closed and costs nothing.

    Parameters
    ----------
    readings
        Pairs that were decided, and what was open of each then.
    """
    opened, offered = Counter[_Cell](), Counter[_Cell]()
    for pair, modes in readings:
        for cell in _cells(review, pair):
            offered[cell] += 1
            opened[cell] += modes[cell[0]] >= cell[2]
    rules, units = review.with_budgets(None, None), np.zeros(len(pairs))
    for number, pair in enumerate(pairs):
        reader = WorkerState(rules, [pair])
        charge = reader.show(pair)
        if isinstance(charge, Refusal):
            continue
        units[number] = charge.units
        # One that opens all: until it is known what is opened, what may be seen counts.
        chance = {cell: (opened[cell] + 1) / (offered[cell] + 1) for cell in _cells(review, pair)}
        # Of all who open a cell, all have opened those before it: Σ P(opened) times what it adds.
        for cell in sorted(chance, key=lambda each: -chance[each]):
            answer = reader.open(pair, Opening((cell[0],), cell[2]))
            units[number] += chance[cell] * answer.units if isinstance(answer, Charge) else 0
    return units


_Cell = tuple[int, Status, Mode]
"""An attribute, how its two values compare, and a mode that shows more than the masked one."""


def _cells(review: Review, pair: int) -> list[_Cell]:
    facts = review.facts(pair)
    each = enumerate(zip(facts.comparisons, facts.offered, strict=True))
    return [(place, known.status, mode) for place, (known, modes) in each for mode in modes]


_PERSONS = ("clinic", "patient", "person")
"""The columns of the demo's truth: a record's source, its id, whose it is."""


def simulated_in(
    folder: Path,
    truth: Path | None,
    certainties: Sequence[float] | None,
    given: Mapping[str, Any],
    progress: Progress,
) -> tuple[tuple[Point, ...], dict[str, Any]]:
    """The curve of a folder's pairs, and what it is of.

    Parameters
    ----------
    folder
        What ``sfumato link`` wrote, or a project.
    truth
        A file of known truth.
    certainties
        At which workers stop opening cells.
    given
        Rules in place of the project's or the default ones.

    Raises
    ------
    InputError
        If the folder has no model, or the truth is none of its records.
    """
    opened = open_folder(folder)
    project = opened.project
    evidence = evidence_of(project)
    if evidence is None:
        raise InputError(
            f"folder {folder.name or folder}",
            "must have a linkage's model, by which simulated workers judge",
            found="none",
        )
    rules = _rules(opened, given)
    known = _truth(project, truth)
    review = review_of(project, rules, index_of(project, rules, progress))
    asked = tuple(sorted(set(certainties))) if certainties else CERTAINTIES
    points = trade_off(review, range(review.pairs), evidence, known or None, asked, progress)
    facts = {
        "pairs": review.pairs,
        "known_truth": len(known),
        "settings": plain_settings(rules, without={"hints", "project_budget"}),
    }
    return points, facts


def _rules(opened: OpenedFolder, given: Mapping[str, Any]) -> Settings:
    """The rules; a budget of all workers together is not one of a simulated worker."""
    rules = opened.rules or Settings()
    return rules.model_copy(update={"project_budget": None, **given})


def _truth(project: Project, path: Path | None) -> dict[int, bool]:
    """By number of the pair, whether its records are one person's."""
    number_of = {pair: number for number, pair in enumerate(project.pair_ids)}
    known = {number_of[pair]: same for pair, same in project.gold.items()}
    if path is None:
        return known
    table = read_text_table(path, f"file {path.name}")
    if set(_PERSONS) <= set(table.column_names):
        return known | _by_persons(project, table, path)
    return known | _by_pairs(project, table)


def _by_pairs(project: Project, table: pa.Table) -> dict[int, bool]:
    _, same = with_gold(project.records, project.pairs, table)
    number_of = {pair: number for number, pair in enumerate(project.pair_ids)}
    return {number_of[pair]: truth for pair, truth in same.items() if pair in number_of}


def _by_persons(project: Project, table: pa.Table, path: Path) -> dict[int, bool]:
    sources, ids, persons = (table[name].to_pylist() for name in _PERSONS)
    person_of = dict(zip(zip(sources, ids, strict=True), persons, strict=True))
    records = zip(project.records[SOURCE].to_pylist(), project.records[ID].to_pylist(), strict=True)
    of = [person_of.get(record) for record in records]
    left, right = (np.asarray(project.pairs[side]).tolist() for side in (LEFT, RIGHT))
    known = {
        number: of[one] == of[two]
        for number, (one, two) in enumerate(zip(left, right, strict=True))
        if of[one] is not None and of[two] is not None
    }
    if not known:
        raise InputError(
            f"file {path.name}", "must be about the folder's records", found="none of them"
        )
    return known
