"""Link two files with sfumato, and note what the model was trained on: FOLDER FILE FILE."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sfumato as sf
from sfumato.linkage import model_fit
from sfumato.linkage.candidate_pairs import Session
from sfumato.linkage.link_spec import load_link_spec
from sfumato.linkage.model_fit import train_m, train_u


def main() -> None:
    """Link, and write the training rules and numbers that bare Splink takes, too."""
    folder, *paths = map(Path, sys.argv[1:])
    noted: dict[str, Any] = {}

    def noting_u(linker: Any, **options: Any) -> None:
        noted["u"] = options
        train_u(linker, **options)

    def noting_m(linker: Any, sessions: Sequence[Session]) -> list[Session]:
        noted["rules"] = [session.rule for session in sessions]
        return train_m(linker, sessions)

    vars(model_fit).update(train_u=noting_u, train_m=noting_m)
    links = sf.link(list(paths), load_link_spec(folder / "spec.toml"), seed=1)
    noted["matches"] = int((links.outcomes == 2).sum())
    noted["linked"] = len(links.linked)
    (folder / "noted.json").write_text(json.dumps(noted), encoding="utf-8")


if __name__ == "__main__":
    main()
