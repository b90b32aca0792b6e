"""A secret is a small file of its own."""

from __future__ import annotations

import os
import secrets
from base64 import encodebytes
from pathlib import Path

import pytest

from sfumato.core.errors import InputError
from sfumato.core.secret_keys import read_secret

TABLE = b"patient,age\nJane,44\nJohn,45\n"


@pytest.mark.parametrize(
    "content",
    [
        b"a secret of sixteen bytes or more",
        secrets.token_hex(32).encode() + b"\n",
        encodebytes(bytes(range(96))),
        bytes(range(200)),
        b"\xff\n" * 16,
        b"k" * 1024,
    ],
    ids=["words", "hexadecimal", "base64 in lines", "bytes", "bytes in lines", "longest"],
)
def test_what_is_a_secret(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(content)
    (tmp_path / "data.csv").write_bytes(content)
    assert read_secret(tmp_path / "key", "option", [tmp_path / "data.csv", None, "no.csv"]) == (
        content.strip()
    )


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"15 bytes of key\n", "15 bytes"),
        (TABLE, "several lines of text"),
        (TABLE * 1000, "several lines of text"),
        (b"k" * 1025, "more bytes"),
        (b"PAR1" + b"\xff" * 5000, "more bytes"),
    ],
)
def test_what_is_none(content: bytes, found: str, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(InputError, match=f"option must be a secret .*; found {found};"):
        read_secret(tmp_path / "key", "option")


@pytest.mark.parametrize("way", ["same", "relative", "link", "hard link", "linked folder"])
def test_what_is_read_as_data_is_none(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data.csv"
    data.write_bytes(b"x" * 32)
    (tmp_path / "link").symlink_to(data)
    (tmp_path / "hard").hardlink_to(data)
    (tmp_path / "folder").symlink_to(tmp_path)
    ways = {
        "same": data,
        "relative": Path(os.path.relpath(data)),
        "link": tmp_path / "link",
        "hard link": tmp_path / "hard",
        "linked folder": tmp_path / "folder" / "data.csv",
    }
    with pytest.raises(InputError, match="option must be a file of its own"):
        read_secret(ways[way], "option", [tmp_path / "other.csv", data])
