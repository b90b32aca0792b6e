"""``sfumato review``: the real program on a terminal, its journal, its files, its errors."""

from __future__ import annotations

import json
import signal
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq
import pytest
from cli.conftest import Run
from cli.review_terminal import PAIRS, PLANTED, Terminal, grams, project_folder
from hypothesis import given
from hypothesis import strategies as st

from sfumato.cli.review_screen import Loop
from sfumato.cli.review_session import begin
from sfumato.core.declaration import silent
from sfumato.core.optional_packages import install_command
from sfumato.examples import generate_clinics, generate_registrations
from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec, SetThresholds
from sfumato.review.review_settings import MaskWidth, Mode, Settings
from sfumato.review.review_sources import open_folder
from sfumato.review.terminal_session import Session
from sfumato.review.terminal_text import Look

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


@dataclass(frozen=True)
class Played:
    """What a review in this process left behind: exit code, errors, all screens, the last."""

    code: int
    err: str
    screens: str
    screen: str


Play = Callable[..., Played]


@pytest.fixture
def play(run: Run, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Play a review in this process, with the keys of a text; the terminal is of 80 by 24."""

    def call(folder: Path, keys: str, *words: str) -> Played:
        waiting = [{"\t": "tab"}.get(key, key) for key in keys] + ["q"]
        screens: list[str] = []

        def at_terminal(session: Session) -> None:
            loop = Loop(session, Look)
            loop.run(
                lambda: waiting.pop(0),
                lambda lines: screens.append(
                    "\n".join("".join(span.text for span in line) for line in lines)
                ),
            )

        monkeypatch.setattr("sfumato.cli.review_commands._check_terminal", lambda: None)
        monkeypatch.setattr("sfumato.cli.review_commands._at_terminal", at_terminal)
        done = run("review", "play", folder, *words)
        return Played(done.code, done.err, "\n".join(screens), screens[-1] if screens else "")

    return call


def journal(folder: Path, name: str = "review.state") -> list[dict]:
    """The lines of a journal."""
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


# --------------------------------------------------------------------- one review, to the end


@pytest.mark.slow
def test_a_linkage_is_reviewed_left_taken_up_and_applied(linked: Path, run: Run) -> None:
    """Opens cells, decides all, leaves and comes again; the answers go back to the linkage."""
    pairs = len(pq.read_table(linked / "review.parquet"))
    assert pairs > 2
    terminal = Terminal("review", "play", linked, "--seed", "3")
    terminal.wait("pair 1 of")
    terminal.press("A", "Opened in full")
    terminal.press("5", "pair 2 of")
    terminal.press("\x1b[C", "surname")
    assert terminal.leave() == 0
    assert f"1 of {pairs} pairs decided" in terminal.text
    assert len(pq.read_table(linked / "decisions.parquet")) == 1
    assert stat.S_IMODE((linked / "review.state").stat().st_mode) == 0o600
    assert stat.S_IMODE((linked / "decisions.parquet").stat().st_mode) == 0o600

    before = json.loads(run("review", "status", linked, "--json").out)["workers"][0]
    assert (before["decided"], before["kapr"] > 0) == (1, True)
    terminal = Terminal("review", "play", linked)
    terminal.wait("pair 2 of")
    assert f"1 of {pairs} decided" in terminal.text
    for _ in range(pairs - 2):
        terminal.press("1", "Pair")
    terminal.press("6", "All pairs are decided")
    assert terminal.leave() == 0
    after = json.loads(run("review", "status", linked, "--json").out)["workers"][0]
    assert after["kapr"] >= before["kapr"]
    assert after["decided"] == pairs

    answers = pq.read_table(linked / "decisions.parquet").to_pylist()
    assert sorted(each["answer"] for each in answers) == sorted([2, 3, *[-3] * (pairs - 2)])
    done = run("link", "apply", linked, "--decisions", linked / "decisions.parquet")
    assert done.code == 0, done.err
    settled = {row["pair"]: row for row in pq.read_table(linked / "pairs.parquet").to_pylist()}
    for each in answers:
        own = settled[each["pair"]]
        # One answer against a score that is nearly sure is asked again, and not believed yet.
        if each["answer"] > 0:
            assert own["outcome"] == "match"
        elif own["score"] < 0.95:
            assert own["outcome"] in {"possible match", "non-match"}
    again = run("review", "export", linked, "--output", "again.parquet")
    assert again.code == 0, again.err
    assert pq.read_table("again.parquet").equals(pq.read_table(linked / "decisions.parquet"))


def test_the_screen_is_left_empty(linked: Path) -> None:
    """Everything is drawn on the alternate screen, which is cleared before it is left."""
    terminal = Terminal("review", "play", linked)
    terminal.wait("pair 1 of")
    terminal.press("A", "Opened in full")
    assert terminal.leave() == 0
    enter, leave = (terminal.bytes.index(b"\x1b[?1049" + end) for end in (b"h", b"l"))
    assert b"pair" not in terminal.bytes[:enter]
    assert terminal.bytes[:leave].rstrip().endswith((b"\x1b[?25h", b"\x1b[2J\x1b[H\x1b[?2004l"))
    cleared = terminal.bytes[:leave].rindex(b"\x1b[2J")
    assert b"pair" not in terminal.bytes[cleared:leave]


def test_a_signal_leaves_the_screen_too(tmp_path: Path) -> None:
    folder = project_folder(tmp_path / "project")
    terminal = Terminal("review", "play", folder)
    terminal.wait("pair 1 of")
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.finish() == 128 + signal.SIGTERM
    assert b"\x1b[?1049l" in terminal.bytes


@pytest.mark.slow
def test_ctrl_c_leaves_as_q_does(tmp_path: Path) -> None:
    folder = project_folder(tmp_path / "project")
    terminal = Terminal("review", "play", folder)
    terminal.wait("pair 1 of")
    terminal.send("\x03")
    assert terminal.finish() == 0
    assert (folder / "decisions.parquet").exists()


# --------------------------------------------------------------------- nothing that is not paid for


def test_nothing_undisclosed_reaches_the_terminal(tmp_path: Path) -> None:
    """Every byte that the terminal got: no piece of a value that was not opened."""
    folder = project_folder(tmp_path / "project")
    terminal = Terminal("review", "play", folder, "--seed", "1")
    terminal.wait("pair 1 of")
    order = journal(folder)[0]["pairs"]
    for key in ("\x1b[C", "\x1b[B", "\t", "?", " ", "n", "b", "g", "h", "f", "1", "f", "s"):
        terminal.send(key)
    terminal.press("n", "q leave")
    for _ in order:
        if terminal.place == order.index("p2") + 1:
            break
        terminal.press("n", "q leave")
    terminal.press("a", "Opened partly")
    terminal.press("\x1b[C", "surname  masked")
    terminal.press("o", "Opened in full")
    terminal.press("4", "same, low confidence")
    assert terminal.leave() == 0
    seen = terminal.text
    opened = grams((str(PLANTED[2][1]),))
    hidden = grams(tuple(value for row in PLANTED for value in row if value)) - opened
    assert any(piece in seen for piece in opened)
    assert not [piece for piece in hidden if piece in seen]
    kept = (folder / "review.state").read_text()
    assert not [piece for piece in hidden | opened if piece in kept]


@pytest.mark.slow
@given(
    st.text("apoANsfu123456nbgh?x\t", max_size=40),
    st.sampled_from([None, 0.02, 0.2]),
    st.sampled_from(MaskWidth),
)
def test_no_keys_show_more_than_was_paid_for(
    keys: str, budget: float | None, width: MaskWidth
) -> None:
    """A screen has pieces of the open values of its own pair only; the journal gives it again."""
    with TemporaryDirectory() as place:
        folder = project_folder(Path(place) / "project", Settings(budget=budget, mask_width=width))
        opened = open_folder(folder)
        session = begin(folder, opened, "reviewer", {}, 1, silent)
        loop = Loop(session, Look)
        every = grams(tuple(value for row in PLANTED for value in row if value))
        for key in keys:
            loop.press({"\t": "tab"}.get(key, key))
            text = "\n".join(
                "".join(span.text for span in line) for line in loop.lines(Look(200, 40))
            )
            pair = session.tasks[loop.place]
            modes = session.worker.account.modes(pair) or ()
            allowed = grams(
                tuple(
                    value
                    for record in PAIRS[int(opened.project.pair_ids[pair][1:]) - 1]
                    for value, mode in zip(PLANTED[record], modes, strict=False)
                    if value and mode is Mode.FULL
                )
            )
            assert not [piece for piece in every - allowed if piece in text]
        if budget is not None:
            assert session.worker.score <= budget
        again = begin(folder, opened, "reviewer", {}, None, silent)
        assert [again.view(n) for n in range(3)] == [session.view(n) for n in range(3)]


@pytest.mark.slow
def test_a_pasted_text_is_no_key(tmp_path: Path) -> None:
    folder = project_folder(tmp_path / "project")
    terminal = Terminal("review", "play", folder)
    terminal.wait("pair 1 of")
    terminal.send("\x1b[200~AAA666\x1b[201~")
    terminal.press("?", "any key")
    terminal.press(" ", "pair 1 of")
    assert terminal.leave() == 0
    assert [line["did"] for line in journal(folder)[1:]] == ["shown"]


# --------------------------------------------------------------------- the budget


def test_a_budget_is_kept_and_not_refunded(linked: Path, run: Run, play: Play) -> None:
    """Refused by the bound; another budget is recorded; what was spent stays spent."""
    first = play(linked, "A", "--budget", "0.000001")
    assert "Refused: more than your budget holds" in first.screen
    shown = [line for line in journal(linked) if line.get("did") == "shown"]
    assert len(shown) == 1
    assert set(shown[0]["modes"]) == {"0"}

    assert "Opened in full" in play(linked, "A", "--budget", "0.9").screen
    spent = _worker(run, linked)["kapr"]
    assert spent > 0
    later = play(linked, "nA", "--budget", "0")
    assert "limit 0.0000" in later.screen
    assert "may not be shown" in later.screen
    assert _worker(run, linked)["kapr"] == spent
    assert _worker(run, linked)["budget"] == 0
    budgets = [line["budget"] for line in journal(linked) if line.get("did") == "budget"]
    assert budgets == [0.9, 0.0]


def _worker(run: Run, folder: Path) -> dict:
    return json.loads(run("review", "status", folder, "--json").out)["workers"][0]


def test_a_linkages_rules_are_kept(linked: Path, play: Play) -> None:
    """Those of the first start hold; hints may change."""
    assert play(linked, "", "--k", "2", "--mask-width", "fixed").code == 0
    for words in (("--k", "3"), ("--costs", "exact"), ("--mask-width", "true"), ("--seed", "1")):
        done = play(linked, "", *words)
        assert done.code == 1
        assert f"option {words[0]} must" in done.err
    assert "There are no hints here" in play(linked, "h", "--k", "2").screen
    assert "There are no hints here" not in play(linked, "h", "--hints").screen


def test_a_projects_rules_are_its_managers(tmp_path: Path, play: Play) -> None:
    project = project_folder(tmp_path / "project", Settings(budget=0.5))
    done = play(project, "", "--budget", "0.6")
    assert done.code == 1
    assert "must be the project's" in done.err
    assert not (project / "review.state").exists()
    assert play(project, "", "--budget", "0.5").code == 0
    assert play(project, "", "--budget", "0.6").code == 1


def test_a_project_budget_counts_what_others_saw(tmp_path: Path, run: Run, play: Play) -> None:
    folder = project_folder(tmp_path / "project", Settings(budget=None, project_budget=0.2))
    first = play(folder, "oo\to", "--worker", "one", "--seed", "1")
    assert "Opened in full" in first.screens
    second = play(folder, "AnAnA", "--worker", "two", "--seed", "1")
    assert "more than the project's budget holds" in second.screens
    found = json.loads(run("review", "status", folder, "--json").out)
    assert 0 < found["combined_kapr"] <= 0.2


# --------------------------------------------------------------------- what the keys do


def test_keys_that_answer(tmp_path: Path, play: Play) -> None:
    """Skipping, flagging, going on and back, and taking back: on this pair or on the last."""
    folder = project_folder(tmp_path / "project")
    done = play(folder, "sf2n5u")
    assert "Taken back. What was opened stays open." in done.screen
    assert [line["did"] for line in journal(folder)[1:]] == [
        "shown", "skipped", "shown", "flagged", "shown", "decided", "withdrawn",
    ]  # fmt: skip
    assert "1 skipped · 1 flagged" in done.screen
    assert "pair 3 of 3" in done.screen
    later = play(folder, "nnffxf1fn1g1")
    kinds = [line["did"] for line in journal(folder)[8:]]
    assert kinds == ["flag removed", "flagged", "flag removed", "decided", "decided"]
    assert "other keys: no flag" in later.screens
    assert "pair 1 of 3" in later.screen
    assert "2 of 3 decided" in later.screen


def test_an_answer_is_changed(tmp_path: Path, play: Play) -> None:
    folder = project_folder(tmp_path / "project")
    play(folder, "1b6b6")
    answers = [(line["did"], line["answer"]) for line in journal(folder) if "answer" in line]
    assert answers == [("decided", -3), ("changed", 3)]


def test_keys_that_open(tmp_path: Path, play: Play) -> None:
    """Each says what it did, or that there is nothing to do."""
    folder = project_folder(tmp_path / "project")
    assert "Opened in full" in play(folder, "\to").screen
    assert "nothing more to open" in play(folder, "\too").screen
    assert "nothing more to open" in play(folder, "AAN").screen
    full_only = play(folder, "np\tp\tp").screens
    assert "It can be opened in full only" in full_only
    modes = [line["modes"] for line in journal(folder)[1:] if line["did"] == "shown"]
    assert all(set(each) <= set("012") and len(each) == 3 for each in modes)
    shown = play(folder, "?x").screens
    assert "any key goes back" in shown


@pytest.mark.slow
def test_hints_point_at_a_cell(linked: Path, play: Play) -> None:
    """On some of the pairs, where they are wanted."""
    pairs = len(pq.read_table(linked / "review.parquet"))
    done = play(linked, "nh" * pairs, "--hints")
    assert "★" in done.screens
    assert "Hint: open this one" in done.screens
    assert "Hint" not in play(linked, "nh" * pairs, "--no-hints").screens


@pytest.mark.slow
def test_the_window_may_change(tmp_path: Path) -> None:
    folder = project_folder(tmp_path / "project")
    terminal = Terminal("review", "play", folder)
    terminal.wait("q leave")
    terminal.resize(10, 30)
    terminal.wait("Make the window larger"[:30])
    terminal.send("o")
    terminal.settle()
    since = len(terminal.bytes)
    terminal.resize(40, 120)
    terminal.wait("q leave", since)
    assert terminal.leave() == 0
    assert [line.get("modes", "000") for line in journal(folder)[1:]] == ["000"]


# --------------------------------------------------------------------- what goes wrong


@pytest.mark.slow
def test_a_kill_loses_at_most_the_key_that_was_not_answered(tmp_path: Path, run: Run) -> None:
    folder = project_folder(tmp_path / "project")
    terminal = Terminal("review", "play", folder)
    terminal.wait("pair 1 of")
    terminal.press("o", "Opened in full")
    terminal.press("3", "different, low")
    terminal.send("Ao5")
    terminal.kill()
    with (folder / "review.state").open("ab") as file:
        file.write(b'{"time": "2026-05-04T12:00:00+00:00", "did": "dec')
    now = json.loads(run("review", "status", folder, "--json").out)["workers"][0]
    assert now["decided"] in (1, 2)
    assert now["kapr"] > 0
    terminal = Terminal("review", "play", folder)
    terminal.wait(f"{now['decided']} of 3 decided")
    assert terminal.leave() == 0
    assert all(line["did"] in {"shown", "decided"} for line in journal(folder)[1:])


@pytest.mark.slow
def test_two_cannot_review_at_once(tmp_path: Path) -> None:
    folder = project_folder(tmp_path / "project")
    one = Terminal("review", "play", folder)
    one.wait("pair 1 of")
    other = Terminal("review", "play", folder, "--worker", "two")
    assert other.finish() == 1
    assert "one at a time" in other.text
    assert one.leave() == 0


def test_a_review_of_other_records_is_refused(tmp_path: Path, run: Run, play: Play) -> None:
    folder = project_folder(tmp_path / "project")
    assert play(folder, "").code == 0
    records = pq.read_table(folder / "records.parquet")
    turned = records.set_column(2, "given_name", records["surname"])
    pq.write_table(turned, folder / "records.parquet")
    done = [run("review", "status", folder), run("review", "export", folder, "-o", "a.parquet")]
    for each in (*done, play(folder, "")):
        assert each.code == 1
        assert "a review of others" in each.err


def test_without_a_terminal_there_is_one_clear_error(tmp_path: Path, run_process: Run) -> None:
    folder = project_folder(tmp_path / "project")
    done = run_process("review", "play", folder)
    assert done.code == 1
    assert done.err.startswith("Error: a review at the terminal needs a terminal")
    assert not (folder / "review.lock").exists()


def test_the_extra_is_asked_for_once(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = __import__("importlib.util").util.find_spec

    def missing(name: str) -> object:
        return None if name == "pyroaring" else real(name)

    monkeypatch.setattr("sfumato.core.optional_packages.find_spec", missing)
    for words in (("play",), ("status",), ("simulate",), ("export", "-o", "a.parquet")):
        done = run("review", words[0], tmp_path, *words[1:])
        assert done.code == 1
        assert install_command("review") in done.err
        assert done.err.count("\n") == 1


def test_names_of_workers_are_no_paths(tmp_path: Path, play: Play) -> None:
    folder = project_folder(tmp_path / "project")
    for name in ("../x", "a b", "", "a/b", "x" * 41):
        done = play(folder, "", "--worker", name)
        assert done.code == 1
        assert "pseudonym" in done.err


# --------------------------------------------------------------------- status and simulate


def test_status_of_several_workers(tmp_path: Path, run: Run, play: Play) -> None:
    """Accuracy on gold pairs, agreement, conflicts and what all know together."""
    folder = project_folder(tmp_path / "project", gold=True)
    assert "No worker has begun" in run("review", "status", folder).out
    for name, last in (("one", "1"), ("two", "6")):
        assert play(folder, "o", "--worker", name).code == 0
        order = journal(folder, f"review.{name}.state")[0]["pairs"]
        keys = "".join(last if pair == "p3" else "6" for pair in order)
        assert "All pairs are decided" in play(folder, keys, "--worker", name).screen
    found = json.loads(run("review", "status", folder, "--json").out)
    assert [each["worker"] for each in found["workers"]] == ["one", "two"]
    assert [each["accuracy"]["right"] for each in found["workers"]] == [2, 1]
    assert found["combined_kapr"] >= max(each["kapr"] for each in found["workers"])
    assert (found["conflicts"], found["agreement"]["pairs"]) == (1, 3)
    said = run("review", "status", folder).out
    assert "Conflicts: 1" in said
    assert "2 of 2" in said
    answers = pq.read_table(folder / "decisions.parquet").to_pylist()
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
        assert "everything" in done.out
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
