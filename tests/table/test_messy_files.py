"""From files as strangers keep them to a release: roles, questions, and no error of our own."""

from __future__ import annotations

from pathlib import Path

import pytest
from few_cases import fast_first
from messy_files import MessyFile, messy_file

import sfumato as sf
from sfumato.schema import dump_schema, load_schema
from sfumato.schema.roles import RECIPE_SOURCE
from sfumato.table.schema_guess import MOST_QUESTIONS

SEEDS = (0, 1, 3, 5, 8, 13)


def written(seed: int, tmp_path: Path, persons: int = 120) -> tuple[MessyFile, Path]:
    file = tmp_path / f"{seed}.csv"
    made = messy_file(seed, persons=persons)
    made.write(file)
    return made, file


@pytest.mark.parametrize("seed", fast_first(2, SEEDS))
def test_roles_as_people_would_decide(seed: int, tmp_path: Path) -> None:
    made, file = written(seed, tmp_path, persons=200)
    guess = sf.guess_schema(file)
    roles = {name: role for role, names in guess.answered().roles().items() for name in names}
    wrong = {
        made.held[name] for name, accepted in made.roles.items() if roles[name] not in accepted
    }
    assert len(wrong) <= 0.1 * len(made.roles), wrong
    direct = [name for name, accepted in made.roles.items() if accepted == {"direct identifier"}]
    hidden = {"direct identifier", "household", "person", RECIPE_SOURCE}
    assert {roles[name] for name in direct} <= hidden
    if made.person is not None:
        assert guess.schema.person == made.person
    assert len(guess.questions) <= MOST_QUESTIONS


@pytest.mark.parametrize("seed", fast_first(1, SEEDS[:4]))
def test_what_a_stage_proposes_the_next_one_accepts(seed: int, tmp_path: Path) -> None:
    _, file = written(seed, tmp_path, persons=80)
    guess = sf.guess_schema(file)
    (tmp_path / "schema.toml").write_text(
        dump_schema(guess.answered(), guess.notes), encoding="utf-8"
    )
    schema = load_schema(tmp_path / "schema.toml")
    assert schema == guess.answered()
    assert sf.assess(file, schema).records > 0
    release = sf.anonymize(file, schema, sf.PidKAnonymity(3))
    assert release.risk.pid_k >= 3
    if seed == SEEDS[0]:
        sf.attack(release, original=file)


def test_the_file_is_the_same_for_the_same_seed() -> None:
    assert messy_file(5).columns == messy_file(5).columns
    assert messy_file(5).columns != messy_file(11).columns


@pytest.mark.slow
def test_other_countries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    from unseen_countries import UNSEEN

    made = messy_file(3, UNSEEN, persons=150)
    made.write(tmp_path / "unseen.csv")
    guess = sf.guess_schema(tmp_path / "unseen.csv")
    direct = {name for name, accepted in made.roles.items() if accepted == {"direct identifier"}}
    released = {*guess.schema.quasi_identifiers, *guess.schema.sensitive, *guess.schema.insensitive}
    assert not direct & released
