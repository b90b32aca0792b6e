"""``sfumato review``: sessions of its folders, their journals, files and errors."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq
import pytest
from cli.conftest import Run
from cli.review_folders import PAIRS, PLANTED, grams, project_folder, reviewed
from hypothesis import given
from hypothesis import strategies as st
from pipeline.clinics_project import change, write_project

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import install_command
from sfumato.examples import generate_clinics, generate_registrations
from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec, SetThresholds
from sfumato.pipeline.project_folder import open_project
from sfumato.pipeline.project_model import Reviewers
from sfumato.review.review_decisions import Answer, FlagReason
from sfumato.review.review_session import Session
from sfumato.review.review_settings import MaskWidth, Mode, Settings
from sfumato.review.worker_state import Charge, Opening, Reason, Refusal
from sfumato.server.worker.drawn_pages import draw_form, draw_pair

pytestmark = pytest.mark.usefixtures("few_random_pairs")

SPEC = LinkSpec(
    id="patient",
    columns={"given_name": "given name", "surname": "surname", "date_of_birth": "date"},
    blocking=["surname:2", "date_of_birth"],
    thresholds=SetThresholds(lower=0.001, upper=0.9999),
)


@pytest.fixture(scope="module")
def linkage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a linkage of two clinics' patients, and the truth beside it."""
    made = generate_registrations(generate_clinics(120, rng=2))
    folder = tmp_path_factory.mktemp("linkage")
    link({"hospital": made.hospital, "practice": made.practice}, SPEC, seed=1).write(
        folder / "linked"
    )
    rows = made.truth.select(["clinic", "patient", "person"]).to_pylist()
    lines = [",".join(map(str, row.values())) for row in rows]
    (folder / "truth.csv").write_text("\n".join(["clinic,patient,person", *lines]) + "\n")
    return folder


@pytest.fixture
def linked(linkage: Path, tmp_path: Path) -> Path:
    """The same where the command runs."""
    return _copied(linkage, tmp_path) / "linked"


def _copied(folder: Path, to: Path) -> Path:
    for path in folder.rglob("*"):
        if path.is_file():
            target = to / path.relative_to(folder)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(path.read_bytes())
    return to


def journal(folder: Path, name: str = "review.state") -> list[dict]:
    """The lines of a journal."""
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


# --------------------------------------------------------------------- one review, to the end


def opened(session: Session, place: int) -> Charge | Refusal:
    """Show a pair, and open all of it."""
    session.show(place)
    everything = Opening(tuple(range(len(session.review.attributes))), Mode.FULL)
    return session.view(place).refused or session.open(place, everything)


def answered(session: Session, *answers: int) -> None:
    """Answer the first pairs."""
    for place, answer in enumerate(answers):
        session.show(place)
        session.decide(place, Answer(answer))


@pytest.mark.slow
def test_a_linkage_is_reviewed_left_taken_up_and_applied(linked: Path, run: Run) -> None:
    """Opens cells, decides all, leaves and comes again; the answers go back to the linkage."""
    pairs = len(pq.read_table(linked / "review.parquet"))
    assert pairs > 2

    def first(session: Session) -> None:
        assert isinstance(opened(session, 0), Charge)
        session.decide(0, Answer(2))

    reviewed(linked, first, budget=0.9)
    assert stat.S_IMODE((linked / "review.state").stat().st_mode) == 0o600
    before = json.loads(run("review", "status", linked, "--json").out)["workers"][0]
    assert (before["decided"], before["kapr"] > 0) == (1, True)
    again = reviewed(linked, lambda session: answered(session, 2, *[-3] * (pairs - 2), 3))
    assert again.undecided(0) is None
    after = json.loads(run("review", "status", linked, "--json").out)["workers"][0]
    assert (after["kapr"], after["decided"]) == (before["kapr"], pairs)

    done = run("review", "export", linked, "--output", linked / "decisions.parquet")
    assert done.code == 0, done.err
    assert stat.S_IMODE((linked / "decisions.parquet").stat().st_mode) == 0o600
    answers = pq.read_table(linked / "decisions.parquet").to_pylist()
    assert sorted(each["answer"] for each in answers) == sorted([2, 3, *[-3] * (pairs - 2)])
    done = run("link", "apply", linked, "--decisions", linked / "decisions.parquet")
    assert done.code == 0, done.err
    settled = {row["pair"]: row for row in pq.read_table(linked / "pairs.parquet").to_pylist()}
    for each in answers:
        own = settled[each["pair"]]
        # One answer against a score that is nearly sure is asked again, and not believed yet.
        if each["answer"] > 0 and own["score"] > 0.05:
            assert own["outcome"] == "match"
        elif each["answer"] > 0:
            assert own["outcome"] in {"match", "possible match"}
        elif own["score"] < 0.95:
            assert own["outcome"] in {"possible match", "non-match"}


# --------------------------------------------------------------------- nothing that is not paid for


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from(Mode)), max_size=12),
    st.sampled_from([None, 0.02, 0.2]),
    st.sampled_from(MaskWidth),
)
def test_no_page_shows_more_than_was_paid_for(
    openings: list[tuple[int, int, Mode]], budget: float | None, width: MaskWidth
) -> None:
    """A pair has pieces of its own open values only; the journal gives it again."""
    every = grams([value for row in PLANTED for value in row if value])
    with TemporaryDirectory() as place:
        folder = project_folder(Path(place) / "project", Settings(budget=budget, mask_width=width))

        def do(session: Session) -> None:
            for number, attribute, mode in openings:
                session.show(number)
                session.open(number, Opening((attribute,), mode))
                drawing = draw_pair(session.view(number), session.standing(), exact=False)
                text = str(draw_form(drawing, "", ""))
                pair = session.tasks[number]
                modes = session.worker.account.modes(pair) or ()
                allowed = grams([
                    value
                    for record in PAIRS[pair]
                    for value, shown in zip(PLANTED[record], modes, strict=False)
                    if value and shown is Mode.FULL
                ])  # fmt: skip
                assert not [piece for piece in every - allowed if piece in text]

        session = reviewed(folder, do)
        if budget is not None:
            assert session.worker.score <= budget
        again = reviewed(folder)
        assert [again.view(n) for n in range(3)] == [session.view(n) for n in range(3)]
        assert not [piece for piece in every if piece in (folder / "review.state").read_text()]


# --------------------------------------------------------------------- the budget


def test_a_budget_is_kept_and_not_refunded(linked: Path, run: Run) -> None:
    """Refused by the bound; another budget is recorded; what was spent stays spent."""
    said: list[Charge | Refusal] = []
    reviewed(linked, lambda session: said.append(opened(session, 0)), budget=0.000001)
    assert isinstance(said[0], Refusal)
    assert said[0].reason is Reason.BUDGET
    shown = [line for line in journal(linked) if line.get("did") == "shown"]
    assert len(shown) == 1
    assert set(shown[0]["modes"]) == {"0"}

    reviewed(linked, lambda session: said.append(opened(session, 0)), budget=0.9)
    assert isinstance(said[1], Charge)
    spent = _worker(run, linked)["kapr"]
    assert spent > 0
    reviewed(linked, lambda session: said.append(opened(session, 1)), budget=0.0)
    assert _worker(run, linked)["kapr"] == spent
    assert _worker(run, linked)["budget"] == 0
    reviewed(linked)  # nothing is said: it stays as it was
    budgets = [line["budget"] for line in journal(linked) if line.get("did") == "budget"]
    assert budgets == [0.9, 0.0]


def _worker(run: Run, folder: Path) -> dict:
    return json.loads(run("review", "status", folder, "--json").out)["workers"][0]


def test_a_project_budget_counts_what_others_saw(tmp_path: Path, run: Run) -> None:
    folder = project_folder(tmp_path / "project", Settings(budget=None, project_budget=0.2))

    def some(session: Session) -> None:
        session.show(0)
        assert isinstance(session.open(0, Opening((0,), Mode.FULL)), Charge)

    reviewed(folder, some, "one")
    said: list[Charge | Refusal] = []
    reviewed(folder, lambda session: said.extend(opened(session, n) for n in range(3)), "two")
    assert Reason.PROJECT_BUDGET in {each.reason for each in said if isinstance(each, Refusal)}
    found = json.loads(run("review", "status", folder, "--json").out)
    assert 0 < found["combined_kapr"] <= 0.2


def test_answers_are_changed_put_off_flagged_and_taken_back(tmp_path: Path) -> None:
    folder = project_folder(tmp_path / "project")

    def do(session: Session) -> None:
        session.show(0)
        session.skip(0)
        assert session.withdraw(0)
        session.decide(0, Answer(-3))
        session.decide(0, Answer(3))
        session.flag(0, FlagReason.BROKEN)
        session.remove_flag(0)
        assert session.withdraw(0)
        assert not session.withdraw(0)

    session = reviewed(folder, do)
    assert [line["did"] for line in journal(folder)[1:]] == [
        "shown", "skipped", "withdrawn", "decided", "changed", "flagged", "flag removed",
        "withdrawn",
    ]  # fmt: skip
    assert (session.view(0).answer, session.view(0).skipped, session.view(0).flagged) == (0, 0, 0)


@pytest.mark.slow
def test_hints_name_a_cell(linked: Path) -> None:
    """On some of the pairs, where they are wanted."""
    pairs = range(len(pq.read_table(linked / "review.parquet")))

    def hinted(session: Session) -> None:
        for place in pairs:
            session.show(place)

    session = reviewed(linked, hinted, hints=True)
    assert any(session.view(place).hint for place in pairs)
    session = reviewed(linked, hints=False)
    assert not any(session.view(place).hint for place in pairs)


# --------------------------------------------------------------------- what goes wrong


def test_a_review_of_other_records_is_refused(tmp_path: Path, run: Run) -> None:
    folder = project_folder(tmp_path / "project")
    reviewed(folder)
    records = pq.read_table(folder / "records.parquet")
    turned = records.set_column(2, "given_name", records["surname"])
    pq.write_table(turned, folder / "records.parquet")
    for each in (
        run("review", "status", folder),
        run("review", "export", folder, "-o", "a.parquet"),
    ):
        assert each.code == 1
        assert "a review of others" in each.err
    with pytest.raises(InputError, match="a review of others"):
        reviewed(folder)


def test_the_extra_is_asked_for_once(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = __import__("importlib.util").util.find_spec

    def missing(name: str) -> object:
        return None if name == "pyroaring" else real(name)

    monkeypatch.setattr("sfumato.core.optional_packages.find_spec", missing)
    for words in (("status",), ("simulate",), ("export", "-o", "a.parquet")):
        done = run("review", words[0], tmp_path, *words[1:])
        assert done.code == 1
        assert install_command("review") in done.err
        assert done.err.count("\n") == 1


def test_a_project_of_before_is_read_and_told_what_to_write(
    tmp_path: Path, run_process: Run
) -> None:
    file = write_project(tmp_path)
    change(tmp_path, "[release]", '[review]\nby = "terminal"\n\n[release]')
    said = [line for line in run_process("status", file).err.splitlines() if "Warning" in line]
    assert len(said) == 1
    assert 'by = "desk"' in said[0]
    with pytest.warns(DeprecationWarning, match="desk"):
        assert open_project(file).project.review.by is Reviewers.DESK


# --------------------------------------------------------------------- status and simulate


def test_status_of_several_workers(tmp_path: Path, run: Run) -> None:
    """Accuracy on gold pairs, agreement, conflicts and what all know together."""
    folder = project_folder(tmp_path / "project", gold=True)
    assert "No worker has begun" in run("review", "status", folder).out
    for name, last in (("one", -3), ("two", 3)):

        def do(session: Session, last: int = last) -> None:
            opened(session, 0)
            # By number of the pair: each worker has an order of their own.
            answered(session, *(last if pair == 2 else 3 for pair in session.tasks))

        assert reviewed(folder, do, name).undecided(0) is None
    found = json.loads(run("review", "status", folder, "--json").out)
    assert [each["worker"] for each in found["workers"]] == ["one", "two"]
    assert [each["accuracy"]["right"] for each in found["workers"]] == [2, 1]
    assert found["combined_kapr"] >= max(each["kapr"] for each in found["workers"])
    assert (found["conflicts"], found["agreement"]["pairs"]) == (1, 3)
    said = run("review", "status", folder).out
    assert "Conflicts: 1" in said
    assert "2 of 2" in said
    assert run("review", "export", folder, "-o", "answers.parquet").code == 0
    answers = pq.read_table("answers.parquet").to_pylist()
    assert {each["worker"] for each in answers} == {"one", "two"}


@pytest.mark.slow
def test_simulate(linkage: Path, run: Run) -> None:
    folder, truth = linkage / "linked", linkage / "truth.csv"
    words = ("review", "simulate", folder, "--truth", truth)
    found = json.loads(run(*words, "--certainty", "0.5", "--certainty", "0.99", "--json").out)
    assert found["known_truth"] == found["pairs"] == len(pq.read_table(folder / "review.parquet"))
    first, second, full = found["points"]
    assert (first["certainty"], second["certainty"], full["certainty"]) == (0.5, 0.99, None)
    assert first["kapr"] <= second["kapr"] <= full["kapr"]
    assert full["same_as_full"] == 1
    assert all(0 <= point["accuracy"] <= 1 for point in found["points"])
    for name in ("curve.svg", "curve.html"):
        done = run(*words, "--certainty", "0.9", "--plot", name)
        assert done.code == 0, done.err
        assert "all that may be" in done.out
        assert "<svg" in Path(name).read_text(encoding="utf-8")
        assert "http" not in Path(name).read_text(encoding="utf-8").replace("http://www.w3.org", "")
    assert not (folder / "review.state").exists()


def test_simulate_takes_gold_pairs(linkage: Path, run: Run, tmp_path: Path) -> None:
    folder = linkage / "linked"
    named = pq.read_table(folder / "pairs.parquet").to_pylist()
    asked = pq.read_table(folder / "review.parquet")["pair"].to_pylist()
    rows = [row for row in named if row["pair"] in asked][:2]
    lines = [f"{r['source_l']},{r['id_l']},{r['source_r']},{r['id_r']},true" for r in rows]
    (tmp_path / "gold.csv").write_text("\n".join(["source_l,id_l,source_r,id_r,same", *lines]))
    words = ("review", "simulate", folder, "--truth", "gold.csv", "--certainty", "0.5", "--json")
    done = run(*words)
    assert done.code == 0, done.err
    assert json.loads(done.out)["known_truth"] == 2


def test_simulate_needs_a_model(tmp_path: Path, run: Run) -> None:
    done = run("review", "simulate", project_folder(tmp_path / "project"))
    assert done.code == 1
    assert "must have a linkage's model" in done.err


@pytest.mark.parametrize("name", ["curve.png", "no/curve.svg"])
def test_a_plot_is_checked_before_the_work(name: str, linkage: Path, run: Run) -> None:
    done = run("review", "simulate", linkage / "linked", "--plot", name)
    assert done.code == 1
    assert "curve" in done.err or "plot" in done.err


def test_export_without_a_review(tmp_path: Path, run: Run) -> None:
    folder = project_folder(tmp_path / "project")
    done = run("review", "export", folder, "-o", "answers.parquet")
    assert done.code == 1
    assert "no review.state" in done.err
    assert not Path("answers.parquet").exists()
