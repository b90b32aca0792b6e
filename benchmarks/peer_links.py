"""goldenmatch on one CSV file of records, as it comes: run by ``by_hand.py`` in .venv-peers.

Usage: peer_links.py FILE OUTPUT    (writes the cluster of each record, a line each)
"""

from __future__ import annotations

import sys
from pathlib import Path

import goldenmatch
import pyarrow as pa
import pyarrow.csv as pa_csv


def main() -> None:
    """Cluster the records of the file."""
    path, output = map(Path, sys.argv[1:])
    with path.open(encoding="utf-8") as file:
        names = file.readline().rstrip().split(",")
    # Texts, as sfumato gets them: a postcode is no number.
    types = pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    table = pa_csv.read_csv(path, convert_options=types)
    found = goldenmatch.dedupe_df(table, confidence_required=False)
    cluster = [0] * len(table)
    for number, each in found.clusters.items():
        for row in each["members"]:
            cluster[row] = number
    output.write_text("\n".join(map(str, cluster)), encoding="utf-8")


if __name__ == "__main__":
    main()
