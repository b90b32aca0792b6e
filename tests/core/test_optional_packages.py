"""A missing extra names the command that brings it, by where the installation came from."""

from __future__ import annotations

import json
from importlib import metadata
from types import SimpleNamespace
from typing import Any

import pytest

from sfumato.core.optional_packages import install_command

WHEEL = "sfumato-0.2.0-cp311-abi3-linux_x86_64.whl"


@pytest.mark.parametrize(
    ("origin", "typed"),
    [
        (None, 'pip install --no-index --find-links FOLDER "sfumato[link]"'),
        (
            {"vcs_info": {"vcs": "git"}, "url": "https://token@secret/x.git"},
            'pip install "sfumato[link] @ git+ADDRESS"',
        ),
        ({"dir_info": {}, "url": "file:///secret"}, 'pip install ".[link]"'),
        (
            {"dir_info": {"editable": True}, "url": "file:///secret"},
            'pip install --editable ".[link]"',
        ),
        (
            {"archive_info": {}, "url": f"file:///secret/{WHEEL}"},
            f'pip install "{WHEEL}[link]"',
        ),
    ],
)
def test_the_command_by_the_origin(
    origin: dict[str, Any] | None, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = None if origin is None else json.dumps(origin)
    monkeypatch.setattr(
        metadata, "distribution", lambda name: SimpleNamespace(read_text=lambda file: noted)
    )
    said = install_command("link")
    assert said.partition(" (")[0] == typed
    assert "secret" not in said


def test_a_source_that_nobody_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", unknown)
    assert install_command("pdf").startswith('pip install ".[pdf]"')
