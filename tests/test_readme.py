"""What the README and the tutorial show runs as it stands."""

import re
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


@pytest.fixture
def demo(tmp_path):
    """A folder in which the demo has run."""
    (tmp_path / "sfumato-demo").mkdir()
    clinics = generate_clinics(400, rng=1)
    write_clinics(clinics, tmp_path / "sfumato-demo")
    write_clinics(clinics, tmp_path)
    return tmp_path


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
    assert (demo / "report.html").exists()
