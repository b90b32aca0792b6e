"""What the README, the tutorial and the page on linkage show runs as it stands."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.examples import generate_clinics, write_clinics


def blocks(page, language):
    """The code blocks of a page."""
    return re.findall(
        rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Where the demo has run, and where the two clinics' visits are under one key."""
    folder = tmp_path_factory.mktemp("made")
    program = Path(sys.executable).with_name("sfumato")
    run([program, "demo", "--persons", "200", "--output", folder / "sfumato-demo"], folder)
    (folder / "sfumato-demo" / "report.html").unlink()
    write_clinics(generate_clinics(400, rng=1), folder)
    return folder


@pytest.fixture
def demo(made, tmp_path):
    """The same folder, for one page alone."""
    return shutil.copytree(made, tmp_path / "made")


def run(command, folder):
    bin_folder = Path(sys.executable).parent
    done = subprocess.run(
        command,
        cwd=folder,
        env={"PATH": f"{bin_folder}:/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_python(page, demo, project_root):
    for code in blocks(project_root / page, "python"):
        run([sys.executable, "-c", code], demo)
    assert (demo / "report.html").exists()


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_shell(page, demo, project_root):
    ran = [code for code in blocks(project_root / page, "sh") if "make " not in code]
    assert ran
    for code in ran:
        run(["sh", "-e", "-c", code], demo)
    assert list(demo.rglob("report.html"))


def test_the_page_on_linkage(tmp_path, project_root):
    """Its example runs as it stands, and finds what the page prints."""
    page = project_root / "docs" / "linkage.md"
    generate, link_in_python = blocks(page, "python")
    run([sys.executable, "-c", generate], tmp_path)
    clinics = tmp_path / "clinics"
    link, measure = (
        code for code in blocks(page, "sh") if "linked.parquet" in code or "cd " in code
    )
    told = run(["sh", "-e", "-c", link], tmp_path)
    printed = blocks(page, "text")[0]
    for line in told.splitlines():
        if line.startswith(("Records", "Matches", "Possible", "Persons")):
            assert line in printed
    run(["sh", "-e", "-c", measure], clinics)
    (clinics / "linked" / "report.html").unlink()
    run([sys.executable, "-c", link_in_python], clinics)
    assert (clinics / "report.html").exists()
