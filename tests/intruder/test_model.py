"""A model of the release foretells values where classes tell whose is whose, and nowhere else."""

from __future__ import annotations

from math import prod

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.intruder.candidates import find_candidates
from sfumato.intruder.guesses.model_attack import foretold, near_as_one, shown_values, sights
from sfumato.intruder.knowledge import hold
from sfumato.intruder.reading import TextColumn, read_release

SCHEMA = sf.Schema(
    person="id",
    quasi_identifiers={"born": "numeric", "job": "categorical"},
    sensitive=["ill"],
)
JOBS = ("miner", "nurse", "baker", "clerk", "pilot")


def classes_of_five(seed: int, *, tied: bool, persons: int = 1_000) -> tuple[pa.Table, pa.Table]:
    """A release in classes of one of each job, neighbours in age, most without the job.

    Each job has eight illnesses of its own where they are tied to it. A fifth of the persons stands
    in classes of one job each, so that a reader can learn which illnesses go with which.
    """
    rng = np.random.default_rng(seed)
    job = np.arange(persons) % len(JOBS)
    born = np.sort(rng.integers(0, 30_000, persons))
    kind = job if tied else rng.integers(0, len(JOBS), persons)
    ill = [f"{JOBS[own]} {rng.integers(8)}" for own in kind]
    names = [f"p{place}" for place in rng.permutation(persons)]
    data = pa.table({"id": names, "born": born, "job": [JOBS[each] for each in job], "ill": ill})
    blocks = np.arange(persons) // 25
    shown = np.where(blocks % 5 == 0, np.array(JOBS)[job], "*")
    group = np.where(blocks % 5 == 0, blocks * 5 + job, np.arange(persons) // 5 + persons)
    ends = {each: (born[group == each].min(), born[group == each].max()) for each in set(group)}
    cells = [f"{ends[each][0]}-{ends[each][1]}" for each in group]
    released = pa.table(
        {"id": [f"x{each}" for each in names], "born": cells, "job": shown, "ill": ill}
    )
    return released, data


def attacked(released: pa.Table, data: pa.Table, *names: str) -> sf.Attack:
    return sf.attack(
        released, schema=SCHEMA, original=data, truth=data["id"].to_pylist(), seed=1,
        attacks=names or ("model",),
    )  # fmt: skip


def test_foretells_whose_value_is_whose_where_the_class_alone_does_not():
    found = attacked(*classes_of_five(1, tied=True), "inference", "model")
    alone, _, model = found.outcomes
    assert alone.success.value < 0.35
    assert model.success.value > 0.55
    assert model.baseline.value < 0.3


@pytest.mark.parametrize("seed", range(3))
def test_finds_nothing_where_values_go_with_nothing(seed):
    found = attacked(*classes_of_five(seed, tied=False))
    (model,) = found.outcomes
    assert model.success.value < 0.32  # one of five, and chance


def test_what_goes_with_people_like_them_is_not_held_against_the_release():
    """A value that the quasi-identifiers foretell anyway is foretold without the record, too."""
    released, data = classes_of_five(2, tied=True)
    tied = [each.split(" ", maxsplit=1)[0] for each in data["ill"].to_pylist()]
    released, data = (each.set_column(3, "ill", pa.array(tied)) for each in (released, data))
    found = attacked(released, data)
    assert found.outcomes[0].success.value > 0.8
    assert found.outcomes[0].baseline.value > 0.5


def test_near_numbers_are_one_value():
    rng = np.random.default_rng(1)
    incomes = [f"{each}" for each in rng.permutation(np.arange(10_000, 30_000, 20))]
    column = TextColumn("income", tuple(incomes), np.arange(len(incomes)))
    grouped = near_as_one(column)
    values = np.array([int(each) for each in incomes])
    assert len(np.unique(grouped.codes)) == 20
    for group in range(20):
        own = values[grouped.codes == group]
        assert np.ptp(own) < 1_001
        assert len(own) == pytest.approx(len(values) / 20, abs=2)
    few = TextColumn("grade", ("1", "2", None), np.array([0, 1, 2, 1]))
    assert near_as_one(few) is few


def test_scores_are_those_of_counting_by_hand():
    """Naive Bayes over classes, with the target's own record and without it."""
    released, data = classes_of_five(3, tied=True, persons=100)
    known = hold(data, SCHEMA)
    file = read_release(released, SCHEMA, known=known)
    candidates = find_candidates(file, known)
    seen, shown = sights(file, known), shown_values(file, file.sensitive[0])
    persons = np.arange(100)
    found = foretold(seen, candidates, shown, persons, persons)
    fits = candidates.fits.toarray()
    values, class_of = file.sensitive[0].codes, file.class_of
    for target in range(0, 100, 7):
        for own, said, alike in (
            (None, found.value, False),
            (target, found.beside, False),
            (target, found.alike, True),
        ):
            others = [row for row in range(100) if row != own]
            scores = []
            for value in range(len(file.sensitive[0].texts)):
                having = [row for row in others if values[row] == value]
                beside = sum(
                    (class_of == class_of[row]).sum() / max(candidates.of_class[class_of[row]], 5)
                    for row in having
                    if fits[class_of[row], candidates.group[target]]
                )
                likelier = prod(
                    (sum(sight.of_class[class_of[row], sight.part[target]] for row in having)
                     + 5 * sight.share[sight.part[target]])
                    / ((len(having) + 5) * sight.share[sight.part[target]])
                    for sight in seen
                )  # fmt: skip
                scores.append((beside * (not alike) + len(having) / 100) * likelier)
            assert scores[said[target]] == pytest.approx(max(scores))


@pytest.mark.parametrize("close", [True, False])
def test_a_class_of_near_incomes_gives_them_away_though_all_differ(close):
    rng = np.random.default_rng(4)
    born, income = np.sort(rng.integers(0, 30_000, 500)), rng.permutation(500) * 37
    if close:  # each class of five has five incomes in a row, and which ones goes with nothing
        income = (np.sort(income).reshape(100, 5)[rng.permutation(100)]).reshape(-1)
    schema = sf.Schema(quasi_identifiers={"born": "numeric"}, sensitive=["income"])
    data = pa.table({"born": born, "income": income})
    cells = [f"{low}-{high}" for low, high in born.reshape(100, 5)[:, [0, 4]].tolist()]
    released = data.set_column(0, "born", pa.array(np.repeat(cells, 5).tolist()))
    found = sf.attack(
        released, schema=schema, original=data, truth="same-order", attacks=["inference"], seed=1
    )
    exact, near = found.outcomes[0], found.outcomes[-1]
    assert (near.attack, exact.success.value > 0.3) == ("inference:income (near)", False)
    assert (near.success.value > 0.8) == close
