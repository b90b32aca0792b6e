"""Joins on columns that a release should not have, by name and by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from intruder.made_files import Made, sampled

from sfumato.core.measure import Measure
from sfumato.intruder.guesses.identity_attacks import Join, join_columns
from sfumato.intruder.referee.attack_odds import verdict
from sfumato.intruder.referee.judgements import judge_identifiers


def scene_with(
    name: str, known_as: str, of_person: list[str], *, seed: int = 1, classes: int = 20
) -> Made:
    """A release of 3 of 5 persons per class with a column copied from the register."""
    rng = np.random.default_rng(seed)
    plain = sampled(rng, [3] * classes, [5] * classes)
    copied = [of_person[owner] for owner in plain.truth.owner]
    again = np.random.default_rng(seed)
    return sampled(
        again, [3] * classes, [5] * classes, others={name: copied}, known={known_as: of_person}
    )


def joined(scene: Made) -> tuple[Join, ...]:
    return join_columns(scene.file, scene.candidates, scene.knowledge, np.random.default_rng(9))


def ids(persons: int = 100) -> list[str]:
    return [f"p{number:03d}" for number in range(persons)]


def test_an_identifier_that_was_left_in_names_everybody() -> None:
    scene = scene_with("Person ID", "person_id", ids())
    found = joined(scene)
    assert [(j.column, j.register_column, j.by_name, j.pinned) for j in found] == [
        ("Person ID", "person_id", True, 60)
    ]
    outcome = judge_identifiers(
        found, scene.truth, scene.file, what="", predicted=Measure("marketer", 0.2)
    )
    assert outcome is not None
    assert (outcome.attack, outcome.right, outcome.attempts) == ("identifiers", 60, 60)
    assert outcome.broken
    assert outcome.notes == ("column 'Person ID' leaves one person for 60 of 60",)
    assert not any(one in " ".join(outcome.notes) for one in ids())


def test_it_is_found_under_another_name_too() -> None:
    scene = scene_with("code", "person_id", ids())
    (join,) = joined(scene)
    assert (join.by_name, join.pinned) == (False, 60)
    outcome = judge_identifiers([join], scene.truth, scene.file, what="")
    assert outcome is not None
    assert outcome.broken
    assert outcome.predicted is not None
    assert outcome.predicted.name == "free_guessing"
    assert outcome.predicted.value == pytest.approx(0.2)
    assert "the register's column 'person_id'" in outcome.notes[0]


def test_dates_that_are_rare_within_a_class_pin_persons() -> None:
    rng = np.random.default_rng(4)
    days = [f"2020-01-{day:02d}" for day in rng.integers(1, 29, 100)]
    scene = scene_with("admitted", "admitted", days)
    (join,) = joined(scene)
    assert 30 <= join.pinned < 60
    for unit, person in zip(join.guesses.unit, join.guesses.person, strict=True):
        text = scene.file.others[0].texts[scene.file.others[0].codes[unit]]
        fitting = scene.candidates.persons_of(int(scene.file.class_of[unit]))
        alike = [one for one in fitting if days[one] == text]
        assert person in alike
        assert join.guesses.chance[unit] == 1 / len(alike)
    outcome = judge_identifiers([join], scene.truth, scene.file, what="")
    assert outcome is not None
    assert outcome.broken


def test_where_the_class_excludes_all_the_text_alone_decides() -> None:
    """The intruder is wrong about the quasi-identifiers, the identifier is right."""
    scene = scene_with("person_id", "person_id", ids())
    shifted = np.roll(scene.candidates.group, 1)
    wrong = type(scene.candidates)(**{**vars(scene.candidates), "group": shifted})
    (join,) = join_columns(scene.file, wrong, scene.knowledge, np.random.default_rng(9))
    outcome = judge_identifiers([join], scene.truth, scene.file, what="")
    assert outcome is not None
    assert outcome.right == 60


def test_a_text_of_very_many_persons_pins_nobody() -> None:
    scene = scene_with("country", "country", ["same"] * 250, classes=50)
    assert joined(scene) == ()
    assert judge_identifiers((), scene.truth, scene.file, what="") is None


def test_fresh_pseudonyms_that_look_like_ids_name_nobody() -> None:
    broken = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        fresh = [str(number) for number in rng.permutation(60)]
        scene = sampled(
            rng, [3] * 20, [5] * 20, others={"key": fresh}, known={"id": list(map(str, range(100)))}
        )
        outcome = judge_identifiers(joined(scene), scene.truth, scene.file, what="")
        assert outcome is not None
        broken += outcome.broken
    assert broken <= 2


def test_a_column_that_names_a_few_is_not_lost_among_many() -> None:
    """Right for five released persons, wrong for everybody else."""
    rng = np.random.default_rng(11)
    plain = sampled(rng, [3] * 40, [5] * 40)
    of_person = ids(200)
    copied = [f"x{number}" for number in rng.permutation(120)]
    for record in range(5):
        copied[record] = of_person[plain.truth.owner[record]]
    for record in range(5, 120):
        copied[record] = of_person[(plain.truth.owner[record] + 1) % 200]
    scene = sampled(
        np.random.default_rng(11),
        [3] * 40,
        [5] * 40,
        others={"key": copied},
        known={"key": of_person},
    )
    outcome = judge_identifiers(
        joined(scene), scene.truth, scene.file, what="", predicted=Measure("marketer", 0.2)
    )
    assert outcome is not None
    assert outcome.right == 5
    assert outcome.attempts < 15
    assert outcome.broken


def test_the_best_of_several_tests_is_allowed_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """All guesses, and those for units that text and class leave one person for."""
    asked: list[int] = []

    def noted(*given: Any, tries: int = 1) -> tuple[float, bool, float]:
        asked.append(tries)
        return verdict(*given, tries=tries)

    monkeypatch.setattr("sfumato.intruder.referee.judgements.verdict", noted)
    scene = sampled(
        np.random.default_rng(11), [3] * 40, [5] * 40,
        others={"key": ids(120)}, known={"key": ids(200)},
    )  # fmt: skip
    assert judge_identifiers(joined(scene), scene.truth, scene.file, what="") is not None
    assert asked == [2]


def test_every_record_of_a_person_may_be_the_one_that_pins() -> None:
    """The second record of each pseudonym has a text that nobody else has."""
    rng = np.random.default_rng(6)
    plain = sampled(rng, [4] * 10, [4] * 10, records=np.full(40, 2), pseudonyms=True)
    seen: set[int] = set()
    texts = []
    for owner in plain.truth.owner.tolist():
        texts.append(f"only {owner}" if owner in seen else "common")
        seen.add(owner)
    register = [f"only {person}" for person in range(40)]
    again = np.random.default_rng(6)
    scene = sampled(
        again,
        [4] * 10,
        [4] * 10,
        records=np.full(40, 2),
        pseudonyms=True,
        others={"note": texts},
        known={"note": register},
    )
    (join,) = joined(scene)
    assert join.pinned == 40
    outcome = judge_identifiers([join], scene.truth, scene.file, what="")
    assert outcome is not None
    assert outcome.right == 40
