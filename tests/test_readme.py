"""What the README, the tutorial and the page on linkage show runs as it stands."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli.review_terminal import Terminal

from sfumato.pipeline.demo_project import write_demo_project
from sfumato.pipeline.run import run as run_project


def blocks(page, language):
    """The code blocks of a page."""
    return re.findall(
        rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Where the demo has linked a few persons; cli/test_demo.py runs all of it."""
    folder = tmp_path_factory.mktemp("made")
    run_project(write_demo_project(folder / "sfumato-demo", 200, 1), until="linked")
    return folder


@pytest.fixture
def demo(made, tmp_path):
    """The same folder, for one page alone."""
    return shutil.copytree(made, tmp_path / "made")


def run(command, folder, code=0):
    bin_folder = Path(sys.executable).parent
    done = subprocess.run(
        command,
        cwd=folder,
        env={"PATH": f"{bin_folder}:/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def review(command):
    """Answer the two pairs of a review at a terminal."""
    terminal = Terminal(*command.split()[1:])
    terminal.wait("pair 1 of 2")
    terminal.press("6", "pair 2 of 2")
    terminal.press("1", "All pairs are decided")
    assert terminal.leave() == 0


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_python(page, demo, project_root):
    for code in blocks(project_root / page, "python"):
        run([sys.executable, "-c", code], demo)
    assert (demo / "report.html").exists()


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_shell(page, demo, project_root, monkeypatch):
    """The tutorial's first run waits for a reviewer, who then comes."""
    monkeypatch.chdir(demo)
    ran = [code for code in blocks(project_root / page, "sh") if "make " not in code]
    asked = [code.startswith("sfumato review play") for code in ran]
    for code, here, next_ in zip(ran, asked, [*asked[1:], False], strict=True):
        if here:
            review(code)
        else:
            run(["sh", "-e", "-c", code], demo, code=3 if next_ else 0)
    assert any(asked) == (page == "docs/tutorial.md")
    assert (demo / "clinics" / "output" / "reports" / "report.html").exists()


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
