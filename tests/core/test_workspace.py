"""The private folder of a run: nobody else enters it, and what a killed run left goes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sfumato.core.errors import InputError
from sfumato.core.workspace import Workspace


def test_what_a_killed_run_has_left_is_removed(tmp_path: Path) -> None:
    left = Workspace(tmp_path)
    (left.path / "canary").write_text("x")
    still_running = Workspace(tmp_path)
    assert left.path.exists()
    left._remove.detach()
    os.close(left._lock)
    with Workspace(tmp_path) as workspace:
        assert not left.path.exists()
        assert still_running.path.exists()
        assert workspace.path.exists()
    still_running.close()
    still_running.close()
    assert list(left.path.parent.iterdir()) == []


def test_what_nobody_refers_to_any_more_is_removed(tmp_path: Path) -> None:
    """Ctrl-C may come between its making and the block that would remove it."""
    path = Workspace(tmp_path).path
    assert not path.exists()


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"sfumato-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="private folder"):
        Workspace(tmp_path)
