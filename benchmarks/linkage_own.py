"""Link two files with sfumato, and note by how many random pairs: FOLDER FILE FILE."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import sfumato as sf
from sfumato.linkage import model_fit
from sfumato.linkage.link_spec import load_link_spec
from sfumato.linkage.model_fit import train_u


def main() -> None:
    """Link, and write the number of random pairs that bare Splink takes, too."""
    folder, *paths = map(Path, sys.argv[1:])
    noted: dict[str, Any] = {}

    def noting_u(linker: Any, **options: Any) -> None:
        noted["u"] = options
        train_u(linker, **options)

    vars(model_fit).update(train_u=noting_u)
    links = sf.link(list(paths), load_link_spec(folder / "spec.toml"), seed=1)
    noted["matches"] = int((links.outcomes == 2).sum())
    noted["linked"] = len(links.linked)
    (folder / "noted.json").write_text(json.dumps(noted), encoding="utf-8")


if __name__ == "__main__":
    main()
