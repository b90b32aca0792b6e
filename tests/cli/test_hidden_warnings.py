"""What a run does not print of its warnings is pointed at, however the run ends."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from sfumato.cli import project_commands
from sfumato.core.errors import InputError

LONG = "long " * 60


@pytest.mark.parametrize("ends", [None, InputError("a", "b"), KeyboardInterrupt()])
@pytest.mark.parametrize(
    ("warnings", "shown", "told"),
    [
        (["a", "b"], 4, 0),
        (["a", "b"], None, 0),
        ([LONG], None, 0),
        ([LONG], 4, 1),
        (["a"] * 9, 4, 0),
        ([*"abcde"], 4, 1),
        ([*"abcdef"], 4, 2),
        (["a"], 0, 1),
        (["a", "b"], 0, 2),
    ],
)
def test_a_pointer_to_the_details(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    ends: BaseException | None,
    warnings: list[str],
    shown: int | None,
    told: int,
) -> None:
    """Once where something was cut or left out, in the plural only of several."""
    record = SimpleNamespace(seconds=1.0, bytes=1, said="made", warnings=warnings)
    state = SimpleNamespace(name="link", record=record, ran=True, waiting=None)
    place = SimpleNamespace(
        file=tmp_path / "sfumato.toml", project=SimpleNamespace(accept=()), stage_names=("link",)
    )

    def made(*_words: object, tell: object, **_more: object) -> object:
        tell(state)  # type: ignore[operator]
        if ends is not None:
            raise ends
        return SimpleNamespace(place=place)

    monkeypatch.setattr("sfumato.pipeline.run.run", made)
    monkeypatch.setattr("sfumato.pipeline.run.stages_of", lambda _place: (state,))
    with nullcontext() if ends is None else pytest.raises(type(ends)):
        project_commands.run_telling(place, shown=shown)  # type: ignore[arg-type]
    said = capsys.readouterr().err
    assert said.count("--details") == (told > 0)
    left = len(dict.fromkeys(warnings)) - (shown or 0)
    if told and warnings != [LONG]:
        assert left == told
        assert (f"{left} warnings:" in said or f"{left} more warnings:" in said) == (left > 1)
    if shown is None:
        assert said.count("long") == 60 * warnings.count(LONG)
