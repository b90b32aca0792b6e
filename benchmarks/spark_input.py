"""The visits as a folder of Parquet files, made part by part so that any number fits memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow.parquet as pq
from visits import SEED, visits

PART = 1_000_000
"""Records of a part: its patients are in no other, and the first part is `visits` itself."""


def write_visits(folder: Path, records: int) -> None:
    """So many visits in a new folder, a file for each part.

    Parameters
    ----------
    folder
        The folder, made here.
    records
        Number of records.
    """
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, records, PART)):
        data, _ = visits(min(PART, records - start), seed=SEED + number, first=start)
        pq.write_table(data, folder / f"part-{number:05d}.parquet", row_group_size=PART // 8)


if __name__ == "__main__":
    write_visits(Path(sys.argv[1]), int(sys.argv[2]))
