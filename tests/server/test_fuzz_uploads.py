"""Files that somebody may upload, damaged in many ways: a reason each time, never a value."""

from __future__ import annotations

import csv
import gzip
import io
import random
import re
from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from server.clinic import ATTRIBUTES, PEOPLE, account
from server.manager_pages import client_of, filled

from sfumato.core.errors import InputError

PLANTED = "Zquxvortexia"
UPLOADS, SEED = 70, 5
PAIRS = b"source_l,id_l,source_r,id_r\nclinic,r0,practice,r1\nclinic,r1,practice,r2\n"
GOLD = b"source_l,id_l,source_r,id_r,same\nclinic,r0,practice,r1,true\nclinic,r1,practice,r2,no\n"
PARTS = (
    *(b'"', b'""', b",", b"\n", b"\r", b";", b"\t", b"'", b"\0", b"\xff", b"\xe4", b"\xef\xbb\xbf"),
    *(b"nan", b"1e999", b"9" * 30, b"=cmd()", "\u202e".encode(), b"x" * 5000),
)
HEADERS = (b"family", b"", b"a" * 300, b"source", b"id", b"pair", b"<b>", b"csrfmiddlewaretoken")
VALUES = ("", "0", "1", "-1", "nan", "inf", "1e400", "x", "1" * 40, "0.5", "\0", "\u00b2", "full")
ENCODINGS = ("utf-16", "latin-1", "utf-8-sig")


def check_files(files: dict[str, bytes]) -> None:
    """As the server does, whose models are there once it is set up."""
    from sfumato.server.manager import uploads

    uploads.check_files(files)


def table(rows: Any) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["patient", *(each.name for each in ATTRIBUTES)])
    writer.writerows([f"r{number}", *row] for number, row in enumerate(rows))
    return text.getvalue().encode()


def damaged(data: bytes, rng: random.Random) -> bytes:
    """A file with at most a few faults."""
    for _ in range(rng.choice([0, 0, 0, 0, 0, 1, 1, 2])):
        at = rng.randrange(len(data) + 1)
        lines = data.split(b"\n")
        data = rng.choice(
            [
                data[:at] + rng.randbytes(1) + data[at + 1 :],
                data[:at] + data[at + rng.randrange(40) :],
                data[:at] + rng.choice(PARTS) + data[at:],
                data[:at] + rng.choice(PARTS) + data[at:],
                data.replace(b",", rng.choice([b";", b"\t", b"|"])),
                data.decode("utf-8", "replace").encode(rng.choice(ENCODINGS), "replace"),
                b"\n".join(rng.sample(lines, len(lines))),
                b"\n".join([lines[0].replace(b"given", rng.choice(HEADERS)), *lines[1:]]),
                data + data,
            ]
        )
    return data


def upload(rng: random.Random) -> dict[str, Any]:
    """Two tables, and often pairs, gold and the column of ids."""
    one, two = table([(PLANTED, *PEOPLE[0][1:]), *PEOPLE[1:4]]), table(PEOPLE[4:])
    files = {"tables-one": one, "tables-two": two}
    files |= {"tables-pairs": PAIRS} if rng.random() < 0.5 else {}
    files |= {"tables-gold": GOLD} if rng.random() < 0.3 else {}
    data: dict[str, Any] = {
        name: SimpleUploadedFile(f"{name}.csv", damaged(content, rng))
        for name, content in files.items()
    }
    return {
        **data,
        "kind": "tables",
        "tables-name_one": rng.choice(["clinic"] * 12 + ["", "practice", "a\nb"]),
        "tables-name_two": "practice",
        "tables-id_column": rng.choice(["patient"] * 12 + ["", "given", "\u202e"]),
    }


@pytest.mark.slow
def test_no_upload_is_a_fault_and_no_reason_tells_a_value() -> None:
    """The client raises what the server does not catch."""
    account("carol", "custodian")
    client, rng = client_of(account("mark", "manager")), random.Random(SEED)
    statuses: Counter[tuple[str, int]] = Counter()
    for _ in range(UPLOADS):
        answers = {"new": client.post("/projects/new", upload(rng))}
        if answers["new"].status_code == 302:
            answers["look"] = client.get("/projects/new/settings")
            form = filled(answers["look"].content)
            for name in rng.sample(sorted(form), rng.choice([0, 0, 1, 2, 4])):
                form[name] = rng.choice(VALUES)
            answers["create"] = client.post("/projects/new/settings", {**form, "go": "create"})
        for step, answer in answers.items():
            statuses[step, answer.status_code] += 1
            assert PLANTED.encode() not in answer.content, step
            assert not re.search(rb"Traceback|Arrow|Exception", answer.content), step
    assert set(statuses) >= {("new", 302), ("new", 400), ("look", 200), ("create", 302)}
    assert {status for _, status in statuses} <= {200, 302, 400}


def _files() -> dict[str, bytes]:
    stream = io.BytesIO()
    numbers = pa.array(range(500))
    names = pa.array([f"{PLANTED}{n % 70}" for n in range(500)])
    pq.write_table(pa.table({"id": names, "a.b": numbers, "c": names}), stream, compression="zstd")
    return {"pairs.parquet": stream.getvalue(), "one.csv": PAIRS, "link.toml": b"a = 1\n"}


def test_what_files_take_is_counted_over_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    files = _files()
    texts = 2 * sum(len(f"{PLANTED}{n % 70}") for n in range(500))
    table = pq.read_table(io.BytesIO(files["pairs.parquet"]))
    assert texts == sum(pc.sum(pc.binary_length(table[name])).as_py() for name in ("id", "c"))
    most = "sfumato.server.manager.uploads.MOST_DECODED"
    monkeypatch.setattr(most, texts + 3 * 500 * 8 + 100_000)
    check_files(files)
    monkeypatch.setattr(most, texts + 3 * 500 * 8)
    with pytest.raises(InputError, match="file pairs"):
        check_files(files)
    with pytest.raises(InputError, match=r"file two\.csv.*with the other files"):
        check_files({"one.csv": PAIRS, "two.csv": b"a,b\n" + b",\n" * 4000})


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("one.csv", b"PK\x03\x04", "must be text"),
        ("one.csv", gzip.compress(b"a,b\n", mtime=0), "must be text"),
        ("one.csv", b"a\n" * 5_000_001, "at most 5,000,000 rows"),
        ("model.json", b"[" * (5 << 20), "a much longer one"),
        ("pairs.parquet", b"PAR1" + b"\x1c" * 5000 + b"PAR1", "a damaged file"),
    ],
)
def test_files_of_other_kinds_are_refused(name: str, data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        check_files({name: data})


def test_damaged_pages_are_refused_or_read() -> None:
    """Whatever stands in a file, it is refused as one, and nothing else is raised."""
    data, rng = _files()["pairs.parquet"], random.Random(SEED)
    refused = []
    for _ in range(400):
        at = rng.randrange(4, len(data) - 8)
        changed = data[:at] + rng.randbytes(rng.choice([1, 1, 4])) + data[at:][rng.choice([1, 4]) :]
        try:
            check_files({"pairs.parquet": changed[:-4] + b"PAR1"})
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 50
    assert all(PLANTED not in each for each in refused)
