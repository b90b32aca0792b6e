"""The page of the documentation on the server: its table says what the rules say."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from server.test_permissions import PEOPLE, TABLE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "server.md"
OF = {
    "custodian": ("custodian", "other custodian", "both"),
    "manager": ("manager", "other manager", "both"),
    "worker": ("worker", "other worker", "former worker"),
    "auditor": ("auditor",),
}

OF_ACCOUNTS = {
    "MANAGE_ACCOUNTS": "yes, but not their own",
    "RESET_ACCOUNT": "of workers in own projects",
}


def _rows() -> dict[str, dict[str, str]]:
    text = PAGE.read_text(encoding="utf-8").partition("## Who may do what")[2].partition("\n## ")[0]
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return {line[0]: dict(zip(lines[0][1:], line[1:], strict=True)) for line in lines[2:]}


def _may(action: str, person: str) -> set[str]:
    """States of a project in which somebody may."""
    return {state for state, reason in TABLE[action][person].items() if not reason}


def _expected(action: str, role: str) -> str:
    """What the tested table of rules says of a role, in the words of the page."""
    own, *others = OF[role]
    may = _may(action, own)
    if not may:
        return ""
    if others and _may(action, others[0]):
        return OF_ACCOUNTS.get(action, "yes")
    if role == "worker":
        return "given to them" if action in {"SEE_PAIR", "OPEN_CELL", "DECIDE"} else "member"
    if role == "custodian" and not _may(action, "both"):
        return "own, unless they manage it"
    if not others:
        return "yes"
    return "own, closed" if may == {"closed"} else "own"


def test_the_table_is_that_of_the_rules() -> None:
    from sfumato.server.permissions import Action

    rows = _rows()
    assert list(rows) == [str(action) for action in Action]
    expected = {
        str(action): {role: _expected(action.name, role) for role in OF} for action in Action
    }
    expected["see a project"]["auditor"] = "member"
    assert rows == expected
    assert set(PEOPLE) >= {name for names in OF.values() for name in names}


def test_every_option_is_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the directive, which lists them as the help does."""
    from typer.main import get_command

    from sfumato.cli.app import app

    assert "```{command} serve\n" in PAGE.read_text(encoding="utf-8")
    monkeypatch.syspath_prepend(PAGE.parents[1] / "_extensions")
    rows = vars(import_module("declared_tables"))["Command"].rows(
        SimpleNamespace(arguments=["serve"])
    )
    listed = {option for row in rows for option in re.findall("--[a-z-]+", row[0])}
    commands = get_command(app).commands  # type: ignore[attr-defined]
    named = {option for each in commands["serve"].params for option in each.opts}
    assert listed == named - {"--help", "-h", "--help-all"}
