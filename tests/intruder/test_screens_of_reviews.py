"""What the journals of a review say was shown is what the review says it disclosed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core.declaration import silent
from sfumato.core.errors import InputError
from sfumato.intruder.attack import attack
from sfumato.intruder.guesses.screen_attack import from_screen
from sfumato.intruder.review_screens import screens_of
from sfumato.review.review_journal import Beginning, Journal, Shown, journal_path, records_hash
from sfumato.review.review_project import Project, write_project
from sfumato.review.review_settings import Attribute, AttributeKind, MaskWidth, Policy, Settings
from sfumato.schema import Schema

ATTRIBUTES = (
    Attribute(name="surname", kind=AttributeKind.VARIABLE, rarity=True),
    Attribute(name="born", kind=AttributeKind.DATE),
    Attribute(name="sex", kind=AttributeKind.CATEGORY),
)
RECORDS, PAIRS = 60, 40
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def _review(folder: Path, settings: Settings, workers: int = 1, *, masked: bool = False) -> Path:
    """A review of which some workers saw some of every other pair, or all pairs masked."""
    rng = np.random.default_rng(3)
    names = ["Meyer", "Meier", "Maier", "Huber", "Hubert", "Lang", "Lange", "NA", None]
    born = [f"19{50 + each}-0{1 + each % 9}-1{each % 7}" for each in rng.integers(0, 12, RECORDS)]
    records = pa.table(
        {
            "source": pa.array(["a", "b"] * (RECORDS // 2), pa.large_string()),
            "id": pa.array([str(row // 2) for row in range(RECORDS)], pa.large_string()),
            "surname": pa.array(rng.choice(np.array(names, object), RECORDS), pa.large_string()),
            "born": pa.array(born, pa.large_string()),
            "sex": pa.array(rng.choice(["f", "m"], RECORDS), pa.large_string()),
        }
    )
    chain = rng.permutation(RECORDS)
    both = np.column_stack([chain[:PAIRS], chain[1 : PAIRS + 1]])
    ids = [f"p{pair}" for pair in range(PAIRS)]
    pairs = pa.table({"pair": ids, "left": pa.array(both[:, 0]), "right": pa.array(both[:, 1])})
    project = Project(ATTRIBUTES, settings, records, pairs)
    made = write_project(project, folder)
    for worker in ("w1", "w2")[:workers]:
        beginning = Beginning(worker, project.settings, tuple(ids), records_hash(records))
        journal = Journal(journal_path(made, worker), beginning)
        for pair in ids if masked else ids[: PAIRS // 2]:
            for modes in ("000",) if masked else ("000", "200" if worker == "w1" else "002"):
                journal.add(Shown(pair, modes, NOON))
        journal.close()
    return made


@pytest.fixture(params=[1, 2])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A review by one worker, or by two."""
    return _review(tmp_path / "review", Settings(), request.param)


@pytest.mark.parametrize("width", list(MaskWidth))
def test_anonymity_sets_are_those_that_the_review_counts(width: MaskWidth, tmp_path: Path) -> None:
    made = _review(tmp_path / "review", Settings(mask_width=width), 2)
    screens = screens_of(made, np.random.default_rng(2), silent)
    assert [screen.worker for screen in screens] == ["w1", "w2"]
    for screen in screens:
        found = from_screen(screen.shown, screen.knowledge, np.random.default_rng(1))
        assert found.sizes.tolist() == screen.sizes.tolist()
        assert 0 < screen.kapr < 1


def test_under_the_papers_policy_more_is_found_than_the_sets_say(tmp_path: Path) -> None:
    """Its sets leave out lengths, missing values and rarity, all of which the screen shows."""
    made = _review(tmp_path / "review", Settings(policy=Policy.PAPER), masked=True)
    found = attack(review=made, seed=2)
    (outcome,) = found.outcomes
    assert outcome.attempts == 2 * PAIRS
    assert outcome.predicted is not None
    assert outcome.success.value > 2 * outcome.predicted.value
    assert outcome.notes == ("KAPR of what worker w1 was shown: 0.00000.",)
    assert [each.attack for each in found.broken] == ["screen"]
    assert found.exit_code == 2
    (screen,) = screens_of(made, np.random.default_rng(2), silent)
    agreeing = from_screen(screen.shown, screen.knowledge, np.random.default_rng(1)).sizes
    assert (agreeing <= screen.sizes).all()
    honest = _review(tmp_path / "honest", Settings(), masked=True)
    assert not attack(review=honest, seed=2).broken


def test_a_review_is_attacked_alone(folder: Path) -> None:
    workers = len(list(folder.glob("*.state")))
    found = attack(review=folder, attacks="screen", seed=2)
    names = ["screen"] if workers == 1 else ["screen_1", "screen_2"]
    assert [each.attack for each in found.outcomes] == names
    assert (found.verdict, found.exit_code) == (None, 0)
    assert found.records == sum(each.attempts for each in found.outcomes)
    assert found.persons <= found.register_persons == RECORDS
    assert len(found.claims.measures) == workers
    assert found.to_json()["about"] == "review"
    assert [each.to_json() for each in attack(review=folder, seed=2).outcomes] == [
        each.to_json() for each in found.outcomes
    ]
    content = json.dumps(found.to_json())
    assert not any(name in content for name in ("Meyer", "Huber", "Lang"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "parameter release"),
        ({"review": "x", "attacks": ["exact"]}, "parameter attacks"),
        ({"review": "x", "register": pa.table({"sex": ["f"]})}, "parameter register"),
        ({"review": "x", "noise": 0.1}, "parameter noise"),
        ({"review": "x", "priors": [pa.table({"sex": ["f"]})]}, "parameter priors"),
    ],
)
def test_what_is_about_a_release_is_refused_without_one(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        attack(**given)


def test_a_screen_is_attacked_beside_a_release(folder: Path) -> None:
    table = pa.table({"sex": ["f", "m"] * 10})
    schema = Schema(quasi_identifiers=["sex"])
    found = attack(table, schema=schema, review=folder, attacks=["screen"], seed=1)
    for outcome in found.outcomes:
        assert outcome.predicted is not None
        assert outcome.attempts > 20
        assert not outcome.broken
        assert abs(outcome.right / outcome.attempts - outcome.predicted.value) < 0.25
        assert "KAPR" in outcome.notes[0]


def test_the_extra_is_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.core.optional_packages.find_spec", lambda name: None)
    with pytest.raises(InputError, match="pyroaring"):
        attack(review=folder)


def test_a_folder_without_a_journal_is_refused(tmp_path: Path, folder: Path) -> None:
    for journal in folder.glob("*.state"):
        journal.unlink()
    with pytest.raises(InputError, match="no journal"):
        screens_of(folder, np.random.default_rng(2), silent)
    with pytest.raises(InputError):
        screens_of(tmp_path / "none", np.random.default_rng(2), silent)
