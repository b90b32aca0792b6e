"""``sfumato profile`` and ``sfumato schema guess --ask``."""

from __future__ import annotations

import io
import json
import tomllib
from pathlib import Path

import pytest
from cli.conftest import RELEASED
from messy_files import messy_file

import sfumato as sf
from sfumato.cli.output import SCREEN, lines_of, write_or_print

DOUBTFUL = "x1;x2;x3\n" + "".join(
    f"Wn{'abcdefghij'[n % 10]}{'uvx'[n % 3]}k{'aeioupq'[n % 7]};{n % 7};{20 + n % 60}\n"
    for n in range(600)
)


def test_profile_of_several_files(run, tmp_path: Path) -> None:
    for seed in (1, 2):
        messy_file(seed, persons=30).write(tmp_path / f"f{seed}.csv")
    shown = run("profile", "f1.csv", "f2.csv")
    assert shown.code == 0
    assert "file f1.csv" in shown.out
    assert "people unique by" not in shown.out
    assert "people unique by" in run("profile", "f1.csv", "f2.csv", "--details").out
    plain = json.loads(run("profile", "f1.csv", "f2.csv", "--json").out)
    assert [each["file"] for each in plain] == ["file f1.csv", "file f2.csv"]
    assert "examples" not in json.dumps(plain)
    assert "examples" in run("profile", "f1.csv", "--json", "--show-values").out


@pytest.mark.parametrize("columns", [3, 28, 120])
def test_a_toml_text_has_room_on_a_screen_and_says_the_same(
    columns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that takes what is printed gets all of it but the comments; details have those."""
    text = "".join(
        f'["a b".x{number}] # why {number}\nkind = "numeric"\norder = [1, {{y.z = "é\\n"}}]\n\n'
        for number in range(columns)
    )
    write_or_print(text, None, details=True)
    assert capsys.readouterr().out == text
    write_or_print(text, None, details=False)
    shown, said = capsys.readouterr()
    assert tomllib.loads(shown) == tomllib.loads(text)
    assert (shown == text) == (columns == 3)
    if columns < 120:
        assert lines_of(shown + said) <= SCREEN
    assert ("--details" in said) == (columns > 3)


def test_a_question_stops_a_release_until_it_is_answered(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d.csv").write_text(DOUBTFUL, encoding="utf-8")
    said = run("schema", "guess", "d.csv", "--output", "asked.toml")
    assert "1 question under [undecided]" in said.err
    asked = tomllib.loads((tmp_path / "asked.toml").read_text(encoding="utf-8"))
    assert set(asked["undecided"]) == {"x1"}
    words = ("anonymize", "d.csv", "--pid-k", "3", "--output", "r.csv", "--schema")
    assert run(*words, "asked.toml").code == 1
    monkeypatch.setattr("sys.stdin", io.StringIO("4\n"))
    assert run("schema", "guess", "d.csv", "--ask", "--output", "answered.toml").code == 0
    answered = tomllib.loads((tmp_path / "answered.toml").read_text(encoding="utf-8"))
    assert "x1" in answered["quasi_identifiers"]
    assert run(*words, "answered.toml").code in RELEASED


def test_a_project_says_what_must_be_answered(run, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(DOUBTFUL, encoding="utf-8")
    made = run("init", "d.csv")
    assert "Next: answer what stands under [schema.undecided] (x1), then sfumato run" in made.err


def test_an_answer_is_a_role(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text(DOUBTFUL, encoding="utf-8")
    guess = sf.guess_schema(file)
    assert isinstance(guess, sf.Guess)
    assert guess.answered({"x1": "sensitive"}).sensitive == ("x1",)
    with pytest.raises(sf.InputError, match="must be answered with a role"):
        guess.answered({"x1": "harmless"})
    with pytest.raises(sf.InputError, match="must be a column of the file"):
        guess.answered({"y": "sensitive"})
