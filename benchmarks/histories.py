"""What the measures of known events take, beside all others of `assess`.

Usage: histories.py [--records N]    (10 million of 2.5 million persons)
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
import pyarrow as pa

import sfumato as sf


def visits(records: int) -> pa.Table:
    """Four visits a person on average, of classes of about sixty persons, with skewed codes."""
    rng = np.random.default_rng(0)
    person = rng.integers(records // 4, size=records)
    place = rng.integers(records // 240 + 1, size=records // 4 + 1)[person]
    return pa.table(
        {
            "person": person,
            "place": place,
            "code": rng.zipf(1.4, size=records) % 900,
        }
    )


def main() -> None:
    """Print the CPU seconds with and without named events."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=10_000_000)
    records = parser.parse_args().records
    table = visits(records)
    for name, fields in (
        ("no person column", {"insensitive": ["person"]}),
        ("no events named", {"person": "person"}),
        ("code named", {"person": "person", "events": ["code"]}),
    ):
        schema = sf.Schema(quasi_identifiers={"place": "categorical"}, sensitive=["code"], **fields)
        start = process_time()
        risk = sf.assess(table, schema)
        told = risk.known_events
        found = (
            ""
            if told is None
            else ", ".join(
                f"{each.m}: {each.found.value:.3f}{'' if each.exact else ' drawn'}"
                for each in told.risks
                if each.drawn == "random"
            )
        )
        print(f"{records:,} records, {name}: {process_time() - start:.1f} CPU s  {found}")


if __name__ == "__main__":
    main()
