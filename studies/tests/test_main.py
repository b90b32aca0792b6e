"""``python -m studies``, as a reader of a paper calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from few_cases import fast_first
from studies import STUDIES
from studies.__main__ import main


@pytest.mark.parametrize("name", fast_first(1, sorted(STUDIES.keys() - {"dankar-elemam-2010"})))
def test_a_study_is_printed_and_written(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = ("--repetitions", "1", "--seed", "7") if name == "lu-sinnott-verspoor-2017" else ()
    assert main([name, *drawn, "--json", "--output", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["name"] == name
    assert {path.suffix for path in (tmp_path / "out").iterdir()} >= {".md", ".json"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("kartal",), 2),
        (("kartal-li-2020", "--seed", "1"), 2),
        (("kartal-li-2020", "--data", "none"), 1),
        (("dankar-elemam-2010", "--data", "none"), 1),
        (("dankar-elemam-2010", "--repetitions", "0"), 1),
        (("mindfirl-2019", "--output", __file__), 1),
        (("mindfirl-2019", "--output", f"{__file__}/in"), 1),
    ],
)
def test_what_cannot_be_done_is_said_before_work(
    words: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        found = main(words)
    except SystemExit as end:
        found = end.code
    assert found == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err
