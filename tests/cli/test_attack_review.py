"""``sfumato attack --review``: a linkage is made, reviewed, exported and attacked."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from cli.conftest import Run
from cli.review_folders import reviewed

from sfumato.examples import generate_clinics, generate_registrations
from sfumato.intruder.guesses.screen_attack import ShownRows, rows_of
from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec, SetThresholds
from sfumato.review.review_decisions import Answer
from sfumato.review.review_session import Session
from sfumato.review.review_settings import Mode
from sfumato.review.worker_state import Opening

pytestmark = pytest.mark.usefixtures("few_random_pairs")

SPEC = LinkSpec(
    id="patient",
    columns={
        "given_name": "given name", "surname": "surname", "date_of_birth": "date",
        "sex": "category", "zip": "postcode",
    },
    blocking=["surname:2", "date_of_birth:year + sex", "zip"],
    thresholds=SetThresholds(lower=0.001, upper=0.9999),
)  # fmt: skip


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """The folder of a linkage of two clinics' patients."""
    made = generate_registrations(generate_clinics(120, rng=2))
    found = link({"hospital": made.hospital, "practice": made.practice}, SPEC, seed=1)
    found.write(tmp_path / "linked")
    return tmp_path / "linked"


def _answered(session: Session) -> None:
    """Open all of some pairs and a cell of others, and answer them."""
    for place in range(len(session.tasks)):
        session.show(place)
        if session.view(place).refused:
            continue
        everything = tuple(range(len(session.review.attributes)))
        session.open(place, Opening(everything if place % 3 == 0 else (place % 2,), Mode.FULL))
        session.decide(place, Answer(2 if place % 2 else -3))


@pytest.mark.slow
def test_a_review_is_exported_and_attacked(linked: Path, run: Run) -> None:
    """The attack finds as many records as the anonymity sets say, and only the truth names them."""
    reviewed(linked, _answered)
    status = json.loads(run("review", "status", linked, "--json").out)["workers"][0]
    words = ("--shown", "shown.parquet", "--shown-truth", "truth.parquet")
    done = run("review", "export", linked, *words)
    assert done.code == 0, done.err
    for name in ("shown.parquet", "truth.parquet"):
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600
    shown = rows_of(pq.read_table("shown.parquet"), "what screens showed")
    truth = {each["row"]: each for each in pq.read_table("truth.parquet").to_pylist()}
    assert set(shown.rows) == set(truth)
    assert {each["worker"] for each in truth.values()} == {"reviewer"}
    _check_characters(linked, shown, truth)

    done = run("attack", "--review", linked, "--seed", "5", "--json", "--report", "r.html")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    (outcome,) = found["attacks"]
    assert (outcome["attack"], outcome["attempts"]) == ("screen", len(truth))
    expected = np.mean([1 / each["anonymity_set"] for each in truth.values()])
    assert outcome["predicted"]["value"] == pytest.approx(expected)
    assert outcome["right"] > 5
    assert outcome["notes"] == [f"KAPR of what worker reviewer was shown: {status['kapr']:.5f}."]
    page = Path("r.html").read_text(encoding="utf-8")
    assert "A review under attack" in page
    assert f"{len(truth)} rows on screens" in page


def _check_characters(folder: Path, shown: ShownRows, truth: dict[str, dict[str, str]]) -> None:
    """Names that are open from end to end are those of the record that the truth names."""
    table = pq.read_table(folder / "identifying.parquet").to_pylist()
    names = {(each["source"], each["id"]): each["surname"] for each in table}
    place = [each.name for each in shown.attributes].index("surname")
    opened = 0
    for row, state in zip(shown.rows, shown.state.tolist(), strict=True):
        cell = shown.states[state][place]
        assert cell is not None
        name = names[truth[row]["source"], truth[row]["id"]]
        assert cell.length == len(name)
        assert all(name[at] == character for at, character in cell.characters)
        opened += len(cell.characters) == len(name)
    assert 0 < opened < len(shown.rows)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("review", "export", "empty"), "option --output"),
        (("review", "export", "empty", "-o", "a.parquet", "--shown-truth", "t.parquet"), "goes"),
        (("review", "export", "empty", "-o", "a.parquet", "--shown", "a.parquet"), "several files"),
        (("review", "export", "empty", "--shown", "a.parquet"), "no review.state"),
        (("attack",), "argument RELEASE"),
        (("attack", "x.csv"), "option --schema"),
        (("attack", "--review", "empty"), "must be one that sfumato link wrote"),
        (("attack", "--review", "empty", "--register", "x.csv"), "option --register"),
        (("attack", "--review", "empty", "--attack", "exact"), "option --attack"),
    ],
)
def test_what_is_refused(tmp_path: Path, run: Run, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "empty").mkdir()
    done = run(*words)
    assert done.code == 1, done.out
    assert said in done.err
