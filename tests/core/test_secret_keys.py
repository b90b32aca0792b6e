"""A secret is a small file of its own, and in nothing else."""

from __future__ import annotations

import copy
import os
import pickle
import secrets
from base64 import encodebytes
from pathlib import Path

import numpy as np
import pytest

from sfumato.core.errors import InputError
from sfumato.core.secret_keys import Secret, Secrets, random_pseudonyms, read_secret

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


@pytest.mark.usefixtures("fresh_secrets")
def test_a_secret_is_in_no_printout_and_no_pickle() -> None:
    secret = Secret.of(None)
    assert len(bytes.fromhex(secret.decode())) == 32
    assert secret != Secret.of(None)
    for said in (repr(secret), str(secret), f"{secret}", repr(Secrets(secret, secret))):
        assert secret.decode() not in said
    written = pickle.dumps({"a": secret, "b": Secrets(secret, secret)})
    assert bytes(secret) not in written
    assert pickle.loads(written)["a"] is None
    assert copy.deepcopy([secret])[0] == secret


def test_a_secret_is_what_its_file_gives_back(tmp_path: Path) -> None:
    for given in (None, b"\n words of sixteen \t", secrets.token_bytes(32).strip()):
        secret = Secret.of(given)
        secret.write(tmp_path / "s")
        assert (tmp_path / "s").stat().st_mode & 0o777 == 0o600
        assert read_secret(tmp_path / "s", "option") == secret
    for bad in (b"short", b" " * 40, "text of sixteen bytes"):
        with pytest.raises(InputError, match="parameter secret"):
            Secret.of(bad)  # type: ignore[arg-type]


def test_what_is_drawn_is_uniform_and_of_its_purpose_alone() -> None:
    secret = Secret(b"s" * 32)
    order = secret.stream("order").permutation(10_000)
    assert np.array_equal(np.sort(order), np.arange(10_000))
    assert np.array_equal(order, secret.stream("order").permutation(10_000))
    assert abs(np.corrcoef(order, np.arange(10_000))[0, 1]) < 0.05
    drawn = secret.stream("dates").below(731, 100_000)
    counts = np.bincount(drawn, minlength=731)
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 900  # chi square, 730: p < 1e-5
    names = [random_pseudonyms(500, each.stream("p")) for each in (secret, secret.bound(b"1"))]
    assert all(len(set(each)) == 500 and {len(name) for name in each} == {16} for each in names)
    assert set("".join(names[0])) == set("abcdefghijklmnopqrstuvwxyz234567")
    assert not set(names[0]) & set(names[1])
    stream = secret.stream("p")
    assert not np.array_equal(stream.bits(8), stream.bits(8))
