"""A release by another tool, k = 5: run by ``foreign_releases.py`` in .venv-peers.

Usage: peer_release.py anjana|openmed FILE OUTPUT

A column ``row`` goes through the tool unchanged: whose each record is can be told afterwards.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

K = 5
LOST = 0.1
"""Share of the records that may be left out."""
QUASI = ("age", "income", "place", "sex")


def levels(column: pd.Series) -> list[list[str]]:
    """The labels of each record above its value, fixed before anybody saw the data."""
    values, nothing = column.to_numpy(), ["*"] * len(column)
    if column.name == "age":
        widths = (5, 10, 20, 40)
        lows = [values // width * width for width in widths]
        return [
            *(
                [f"[{low}, {low + width})" for low in own]
                for own, width in zip(lows, widths, strict=True)
            ),
            nothing,
        ]
    if column.name == "income":
        ends = np.array([0, *(round(10 ** (each / 8)) for each in range(24, 50))])
        found = []
        for band in (2, 4, 8):
            some = np.append(ends[::band], 10**7)
            at = np.searchsorted(some, values, side="right") - 1
            found.append([f"[{some[each]}, {some[each + 1]})" for each in at])
        return [*found, nothing]
    if column.name == "place":
        texts = column.astype(str)
        return [[f"{text[:kept]}{'*' * (5 - kept)}" for text in texts] for kept in (2, 1)] + [
            nothing
        ]
    return [nothing]


def anjana(data: pd.DataFrame) -> pd.DataFrame:
    """Full-domain recoding."""
    from anjana.anonymity import k_anonymity

    hierarchies = {
        name: {
            place: np.array(own)
            for place, own in enumerate([data[name].to_numpy(), *levels(data[name])])
        }
        for name in QUASI
    }
    return k_anonymity(data, [], list(QUASI), K, 100 * LOST, hierarchies)


def openmed(data: pd.DataFrame) -> pd.DataFrame:
    """The node of least loss of the whole lattice."""
    from openmed.risk import enforce_kanon

    # Names that say nothing: ages and places have levels of the tool's own.
    names = {name: f"q{place}" for place, name in enumerate(QUASI)}
    hierarchies: dict[str, list[dict[str, object]]] = {}
    for name, code in names.items():
        below = [data[name].astype(str).tolist()]
        hierarchies[code] = [{"name": "value"}]
        for own in levels(data[name]):
            # A level says of the labels below it, too, what becomes of them.
            values = {
                label: above for each in below for label, above in zip(each, own, strict=True)
            }
            hierarchies[code].append({"name": f"level {len(below)}", "values": values})
            below.append(own)
    found = enforce_kanon(
        data.rename(columns=names).to_dict("records"),
        list(names.values()),
        target_k=K,
        suppression_rate=LOST,
        hierarchies=hierarchies,
        remove_direct_identifiers=False,
    )
    codes = {code: name for name, code in names.items()}
    return pd.DataFrame(found["records"]).rename(columns=codes)


def main() -> None:
    """Run the tool that is asked for."""
    tool, path, output = sys.argv[1:]
    released = {"anjana": anjana, "openmed": openmed}[tool](pd.read_csv(path))
    released.to_csv(output, index=False)


if __name__ == "__main__":
    main()
