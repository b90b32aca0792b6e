"""Guesses of sensitive values: against counting by hand, honest claims and false ones."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from few_cases import fast_first
from intruder.made_files import Made, made, sampled

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.intruder.candidates import Inference
from sfumato.intruder.guesses.inference_attacks import most_shared_value
from sfumato.intruder.referee.judgements import judge_inference


def guess(scene: Made) -> Inference:
    return most_shared_value(scene.file, scene.candidates, scene.file.sensitive[0])


def texts(scene: Made, guesses: Inference) -> list[str | None]:
    held = scene.file.sensitive[0].texts
    return [held[code] if code >= 0 else None for code in guesses.value]


def shared(scene: Made) -> list[float]:
    """GSAR of each class, persons by the truth (paper 003, Section 8), by counting."""
    column, found = scene.file.sensitive[0], []
    for number in range(scene.file.classes):
        rows = np.flatnonzero(scene.file.class_of == number)
        pairs = {(int(scene.truth.owner[row]), int(column.codes[row])) for row in rows}
        most = Counter(code for _, code in pairs).most_common(1)[0][1]
        found.append(most / len({person for person, _ in pairs}))
    return found


def test_table_4_of_paper_003() -> None:
    """Both patients have gastritis, though three values are distinct in the class."""
    values = ["Ulcer", "Gastritis", "Pneumonia", "Gastritis"]
    scene = made([3] * 4, [0, 0, 1, 1], [3, 3], pseudonyms=True, values=values)
    guesses = guess(scene)
    assert texts(scene, guesses) == ["Gastritis", "Gastritis"]
    assert guesses.chance == pytest.approx([1, 1])
    outcome = judge_inference(
        guesses,
        scene.truth,
        scene.file,
        np.random.default_rng(1),
        what="",
        targets="surest",
        predicted=Measure("max_gsar", 0.5),
    )
    assert (outcome.attack, outcome.right, outcome.attempts) == ("inference:illness", 2, 2)
    assert outcome.broken
    assert outcome.allowed == 0.5
    assert outcome.success.estimator is None
    assert outcome.baseline.value == 1.0


def test_a_person_counts_once_per_value() -> None:
    """Three records of one pseudonym do not outweigh two persons."""
    values = ["flu", "flu", "flu", "gout", "gout"]
    scene = made([0] * 5, [0, 0, 0, 1, 2], [0] * 3, pseudonyms=True, values=values)
    guesses = guess(scene)
    assert texts(scene, guesses) == ["gout"] * 3
    assert guesses.chance == pytest.approx([2 / 3] * 3)


def test_of_values_that_as_many_have_the_one_that_more_have_in_the_file() -> None:
    values = ["flu", "gout", "gout"]
    scene = made([0, 0, 1], range(3), [0, 0, 1], values=values)
    assert texts(scene, guess(scene))[:2] == ["gout", "gout"]


def test_who_fits_no_class_is_not_guessed() -> None:
    scene = made([0, 0], [0, 1], [0, 0, 7], values=["flu", "flu"])
    guesses = guess(scene)
    assert texts(scene, guesses) == ["flu", "flu", None]
    assert guesses.chance[2] == 0


def test_classes_without_a_value_are_not_guessed() -> None:
    scene = made([0, 0, 1], [0, 1, 2], [0, 0, 1], values=["flu", "gout", "flu"])
    column = scene.file.sensitive[0]
    bare = type(column)(column.name, (None, "gout"), column.codes)
    guesses = most_shared_value(scene.file, scene.candidates, bare)
    assert guesses.value.tolist() == [1, 1, -1]
    assert guesses.chance[:2] == pytest.approx([0.5, 0.5])


def test_persons_outside_are_the_control() -> None:
    """In the release everybody of the class has flu, outside one of four; one is unknown."""
    has = ["flu", "flu", "flu", "gout", "gout", "gout"]
    scene = made([0, 0], [0, 1], [0] * 6, values=["flu", "flu"], has=has)
    outcome = judge_inference(
        guess(scene), scene.truth, scene.file, np.random.default_rng(2), what=""
    )
    assert (outcome.right, outcome.attempts) == (2, 2)
    assert outcome.control is not None
    assert outcome.control.value == pytest.approx(1 / 4)
    assert outcome.control.low is not None


def test_one_target_of_each_class_or_only_the_surest_and_those_outside_who_are_like_them() -> None:
    """Everybody of the first class has flu, half of the second, two thirds of the third."""
    values = ["flu"] * 3 + ["flu", "gout"] * 2 + ["flu", "flu", "gout"]
    classes = [0] * 3 + [1] * 4 + [2] * 3
    scene = made(classes, range(10), [*classes, 0, 1, 1], values=values,
                 has=[*values, "gout", "flu", "flu"])  # fmt: skip
    parts = guess(scene), scene.truth, scene.file
    found = [
        judge_inference(*parts, np.random.default_rng(seed), what="", targets="one_per_class")
        for seed in range(60)
    ]
    assert {outcome.attempts for outcome in found} == {3}
    assert {outcome.right for outcome in found} == {1, 2, 3}
    assert np.mean([each.right for each in found]) == pytest.approx(1 + 1 / 2 + 2 / 3, abs=0.3)
    best = judge_inference(*parts, np.random.default_rng(0), what="", targets="surest")
    assert (best.right, best.attempts) == (3, 3)
    assert best.control is not None
    assert best.control.value == 0


def test_without_values_outside_there_is_no_control() -> None:
    scene = made([0, 0], [0, 1], [0] * 6, values=["flu", "flu"])
    outcome = judge_inference(
        guess(scene), scene.truth, scene.file, np.random.default_rng(2), what=""
    )
    assert outcome.control is None


def test_another_column_is_refused() -> None:
    scene = made([0], [0], [0], values=["flu"])
    wrong = Inference("salary", np.array([0]), np.array([0]), np.array([1.0]))
    with pytest.raises(InputError, match="salary"):
        judge_inference(wrong, scene.truth, scene.file, np.random.default_rng(2), what="")


def test_values_and_chances_by_counting() -> None:
    rng = np.random.default_rng(3)
    released = rng.integers(1, 7, 15)
    values = rng.integers(0, 4, int(released.sum()))
    scene = sampled(rng, released, released + 1, values=values, pseudonyms=True)
    guesses, column = guess(scene), scene.file.sensitive[0]
    for person in range(scene.knowledge.persons):
        number = scene.candidates.group[person]
        number = scene.candidates.fits[:, [int(number)]].tocoo().coords[0][0]
        counts = np.bincount(column.codes[scene.file.class_of == number], minlength=4)
        assert counts[guesses.value[person]] == counts.max()
        assert guesses.chance[person] == pytest.approx(counts.max() / counts.sum())


@pytest.mark.parametrize("pseudonyms", fast_first(1, [True, False]))
def test_honest_claims_are_seldom_broken_and_false_ones_are(pseudonyms: bool) -> None:
    broken = {"avg_gsar": 0, "max_gsar": 0}
    caught = dict.fromkeys(broken, 0)
    runs = 60
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        released = rng.integers(3, 9, 40)
        records = rng.geometric(0.6, int(released.sum()))
        values = rng.integers(0, 6, int(records.sum()))
        scene = sampled(
            rng, released, released, records=records, values=values, pseudonyms=pseudonyms
        )
        guesses, share = guess(scene), shared(scene)
        for name, true, targets in (
            ("avg_gsar", np.mean(share), "one_per_class"),
            ("max_gsar", max(share), "surest"),
        ):
            for factor, tally in ((1.0, broken), (0.5, caught)):
                outcome = judge_inference(
                    guesses,
                    scene.truth,
                    scene.file,
                    rng,
                    what="",
                    targets=targets,
                    predicted=Measure(name, float(true * factor)),
                )
                tally[name] += outcome.broken
    assert broken["max_gsar"] == 0
    assert broken["avg_gsar"] <= 0.025 * runs + 3
    assert min(caught.values()) >= 0.75 * runs
