"""One tool of others on one CSV file of numbers, k = 5: run by ``peers.py`` in .venv-peers.

Usage: peer.py anjana|anonypy|pycanon FILE
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

K = 5
SENSITIVE = "diagnosis"


def anjana(data: pd.DataFrame, names: list[str]) -> None:
    """Full-domain recoding; each level halves the number of intervals."""
    from anjana.anonymity import k_anonymity

    hierarchies = {}
    for name in names:
        ranks = data[name].rank(method="dense").to_numpy(dtype=np.int64) - 1
        levels = {0: data[name].to_numpy()}
        size = int(ranks.max()) + 1
        for level in range(1, size.bit_length() + 1):
            levels[level] = ranks >> level
        hierarchies[name] = levels
    released = k_anonymity(data, [], names, K, 0, hierarchies)
    if not len(released):
        sys.exit("nothing released")


def anonypy(data: pd.DataFrame, names: list[str]) -> None:
    """Mondrian."""
    from anonypy import Preserver

    Preserver(data, names, SENSITIVE).anonymize_k_anonymity(k=K)


def pycanon(data: pd.DataFrame, names: list[str]) -> None:
    """Measures only: k, and distinct and entropy l-diversity."""
    from pycanon.anonymity import entropy_l_diversity, k_anonymity, l_diversity

    k_anonymity(data, names)
    l_diversity(data, names, [SENSITIVE])
    entropy_l_diversity(data, names, [SENSITIVE])


def main() -> None:
    """Run the tool that is asked for."""
    tool, path = sys.argv[1:]
    data = pd.read_csv(path)
    names = [name for name in data.columns if name != SENSITIVE]
    {"anjana": anjana, "anonypy": anonypy, "pycanon": pycanon}[tool](data, names)


if __name__ == "__main__":
    main()
