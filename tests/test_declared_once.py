"""A promise and an option are declared once: each is added in one file, and found everywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sfumato.kernels import _classes, _groups, _histories, _pairs, _partitions, _tree

ROOT = Path(__file__).parent.parent
ROOMS, MOTTO = "At least E records share a room.", "A word that the custodian chooses."
PROMISE = '''
"""Every class has enough records, as a test adds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sfumato.core.declaration import Count, Parameter
from sfumato.release.promises.promise import Promise


@dataclass(frozen=True)
class FullRooms(Promise):
    """Every class has at least e records."""

    name = "full_rooms"
    measure = "k"

    e: Annotated[
        int, Parameter("At least E records share a room.", "E", Count(1), flag="full_rooms")
    ]

    def met(self, classes):
        return classes.records >= self.e

    def shortfall(self, whole):
        return f"full_rooms asks for {self.e}."

    def sentence(self, attribute=""):
        return f"No room has fewer than {self.e} guests."
'''
OPTION = """
    motto: Annotated[
        str | None, Parameter("A word that the custodian chooses.", "WORD")
    ] = None

    def __post_init__(self) -> None:
"""
START = """
import sys
sys.meta_path[:] = [each for each in sys.meta_path if "esonpy" not in type(each).__name__]
sys.path.insert(0, sys.argv.pop(1))
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package in which two files differ, and data to release."""
    home = tmp_path_factory.mktemp("declared")
    shutil.copytree(
        ROOT / "src" / "sfumato", home / "sfumato", ignore=shutil.ignore_patterns("*.pyx")
    )
    for compiled in (_classes, _groups, _histories, _pairs, _partitions, _tree):
        shutil.copy(str(compiled.__file__), home / "sfumato" / "kernels")
    release = home / "sfumato" / "release"
    (release / "promises" / "full_rooms.py").write_text(PROMISE, encoding="utf-8")
    options = (release / "release_options.py").read_text(encoding="utf-8")
    assert "\n    def __post_init__(self) -> None:\n" in options
    options = options.replace("\n    def __post_init__(self) -> None:\n", OPTION, 1)
    (release / "release_options.py").write_text(options, encoding="utf-8")
    for folder in ("a", "b"):
        (home / folder).mkdir()
    rows = [f"{age},{sex}" for age in range(20, 40) for sex in ("f", "m")]
    (home / "visits.csv").write_text("\n".join(["age,sex", *rows]), encoding="utf-8")
    (home / "schema.toml").write_text(
        '[quasi_identifiers]\nage = "numeric"\nsex = "categorical"\n', encoding="utf-8"
    )
    (home / "sfumato.toml").write_text(
        '[project]\nname = "x"\nseed = 1\n[sources.v]\nfile = "visits.csv"\n'
        '[schema]\nfile = "schema.toml"\n'
        '[release]\nfull_rooms = 5\nmotto = "slowly"\n',
        encoding="utf-8",
    )
    return home


def run(home: Path, code: str, *arguments: str) -> str:
    """What a program prints that sees the changed package."""
    done = subprocess.run(
        [sys.executable, "-c", START + code, str(home), *arguments],
        cwd=home,
        env=os.environ | {"COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    # Above the limit it is released all the same.
    assert done.returncode in (0, 2), done.stderr
    return done.stdout


def sfumato(home: Path, *arguments: str) -> str:
    """What a command prints."""
    return run(home, "from sfumato.cli.app import main; main()", *arguments)


@pytest.mark.slow
def test_the_command_line_manifest_json_and_report_have_both(home: Path) -> None:
    said = sfumato(home, "anonymize", "--help-all")
    assert "--full-rooms" in said
    assert ROOMS in said
    assert "--motto" in said
    asked = ("--full-rooms", "5", "--motto", "slowly", "--seed", "1")
    names = ("visits.csv", "--schema", "schema.toml")
    out = sfumato(
        home, "anonymize", *names, *asked, "-o", "a/r.csv", "--report", "r.html", "--json"
    )
    manifest = tomllib.loads((home / "a" / "release.toml").read_text(encoding="utf-8"))
    assert manifest["constraints"] == [{"name": "full_rooms", "e": 5}]
    assert manifest["options"]["motto"] == "slowly"
    assert json.loads(out)["manifest"]["options"]["motto"] == "slowly"
    assert json.loads(out)["manifest"]["constraints"] == manifest["constraints"]
    report = (home / "r.html").read_text(encoding="utf-8")
    assert "No room has fewer than 5 guests." in report
    assert "slowly" in report
    sfumato(home, "anonymize", *names, "--repeat", "a/release.toml", "-o", "b/r.csv")
    assert (home / "b" / "r.csv").read_bytes() == (home / "a" / "r.csv").read_bytes()


def test_the_project_file_and_its_json_schema_have_both(home: Path) -> None:
    found = json.loads(
        run(
            home,
            """
import json
from sfumato.pipeline.project_text import project_json_schema
from sfumato.pipeline.project_text import parse_project
from pathlib import Path
project = parse_project(Path("sfumato.toml").read_text())
keys = project_json_schema()["$defs"]["Release"]["properties"]
print(json.dumps({
    "promises": [repr(each) for each in project.release.promises],
    "motto": project.release.making["motto"],
    "keys": {name: keys[name]["description"] for name in ("full_rooms", "motto")},
}))
""",
        )
    )
    assert found["promises"] == ["FullRooms(e=5)"]
    assert found["motto"] == "slowly"
    assert found["keys"]["full_rooms"].startswith(ROOMS)
    assert found["keys"]["motto"] == MOTTO


def test_python_and_the_documentation_have_both(home: Path) -> None:
    said = run(
        home,
        """
import inspect, sys
import sfumato as sf
print(sf.FullRooms(3), inspect.signature(sf.anonymize).parameters["motto"])
print("A word that the custodian chooses." in sf.anonymize.__doc__)
sys.path.insert(0, sys.argv[1])
from declared_tables import Options, Promises
print([row for row in Promises.rows(None) if "full_rooms" in row[1]])
table = Options.__new__(Options)
table.arguments = ["sfumato.release.release_options:Options"]
print([row for row in table.rows() if "motto" in row[0]])
""",
        str(ROOT / "docs" / "_extensions"),
    )
    assert "FullRooms(e=3) motto: str | None = None" in said
    assert "True" in said
    assert said.count(ROOMS) == said.count(MOTTO) == 1
