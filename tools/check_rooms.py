"""Check the order of the rooms as import-linter does, in the folders of this tree.

An editable installation by meson shows no folder of the package; so it is left out here.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.meta_path[:] = [
        each for each in sys.meta_path if type(each).__module__ != "_sfumato_editable_loader"
    ]
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
    from importlinter.cli import lint_imports_command

    lint_imports_command(["--no-logo", *sys.argv[1:]])
