"""What depends on publication says what the one switch says, and its install lines work."""

from __future__ import annotations

import re
import shutil
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import publication
import pytest

from sfumato.core.optional_packages import install_command

ROOT = Path(__file__).resolve().parents[2]
OFF = 'published = false\nrepository = ""\nsecurity-contact = ""'
ON = (
    'published = true\nrepository = "https://forge.example.org/sfumato"\n'
    'security-contact = "security@example.org"'
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that the switch is written into, switched off."""
    for page in publication.pages(ROOT):
        target = tmp_path / page.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, target)
    return tmp_path


def turn(root: Path, before: str, after: str) -> None:
    project = root / "pyproject.toml"
    text = project.read_text("utf-8")
    assert before in text
    project.write_text(text.replace(before, after), "utf-8")
    for page, wanted in publication.differing(root).items():
        page.write_text(wanted, "utf-8")
    assert publication.differing(root) == {}


def contents(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in root.rglob("*")
        if path.is_file()
    }


def test_everything_says_what_the_switch_says() -> None:
    assert [page.name for page in publication.differing(ROOT)] == []


def test_the_switch_changes_every_line_and_back(copy: Path) -> None:
    before = contents(copy)
    assert OFF in before["pyproject.toml"]
    lines = sum(len(publication.INSTALL.findall(text)) for text in before.values())
    turn(copy, OFF, ON)
    after = contents(copy)
    found = [each for text in after.values() for each in publication.INSTALL.finditer(text)]
    assert len(found) == lines > 5
    changed = {name for name in before if before[name] != after[name]}
    assert {"docs/start/installation.md", "docs/reference/server.md", "pyproject.toml"} <= changed
    by_name = re.compile(r"""["']sfumato\b""")
    assert all(by_name.search(each.group()) for each in found)
    turn(copy, ON, OFF)
    assert contents(copy) == before


def test_install_lines_name_extras_that_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for page in publication.pages(ROOT):
        for _, named in publication.INSTALL.findall(page.read_text("utf-8")):
            asked = set(re.findall(r"\w+", named))
            assert asked <= extras["optional-dependencies"].keys(), page.name


def test_an_index_is_asked_by_name_only_once_it_is_published(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Until then what an index has under the name is a stranger's."""
    found = SimpleNamespace(read_text=lambda _file: None)
    monkeypatch.setattr(metadata, "distribution", lambda _name: found)
    published = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["sfumato"]
    assert ("--no-index" in install_command("link")) is not published["published"]
