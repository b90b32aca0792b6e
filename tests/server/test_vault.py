"""Keys, and files that are encrypted with them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidTag
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.server import vault as module
from sfumato.server.config import ServerConfig, check_config
from sfumato.server.vault import (
    load_keys,
    new_key,
    read_sealed,
    replace_keys,
    seal,
    unseal,
    write_sealed,
)

NAMES = ("fingerprint.key", "session.key", "signing.key", "wrapping.key")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_keys_are_made_once_for_their_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    keys = load_keys(folder)
    assert sorted(path.name for path in folder.iterdir()) == list(NAMES)
    assert _mode(folder) == 0o700
    assert {_mode(path) for path in folder.iterdir()} == {0o600}
    again = load_keys(folder)
    parts = ("wrapping", "signing", "session", "fingerprint")
    assert [getattr(keys, part) for part in parts] == [getattr(again, part) for part in parts]
    assert len({getattr(keys, part) for part in parts}) == 4
    assert keys.wrapping.hex() not in repr(keys)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o606, 0o660])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    load_keys(tmp_path)
    (tmp_path / "wrapping.key").chmod(mode)
    with pytest.raises(InputError, match="owner only"):
        load_keys(tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_key_is_not_replaced_by_a_new_one(tmp_path: Path, name: str) -> None:
    load_keys(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(InputError, match="3 of 4"):
        load_keys(tmp_path)
    assert not (tmp_path / name).exists()


def test_a_key_of_another_length_is_refused(tmp_path: Path) -> None:
    load_keys(tmp_path)
    (tmp_path / "signing.key").write_bytes(b"short")
    with pytest.raises(InputError, match="32 bytes"):
        load_keys(tmp_path)


@pytest.mark.parametrize("name", ["signing.old.key", "signing.1.old.key", "signing.-1.key"])
def test_a_copy_of_a_key_is_none_that_was_replaced(tmp_path: Path, name: str) -> None:
    keys = load_keys(tmp_path)
    (tmp_path / name).write_bytes(b"a copy")
    assert load_keys(tmp_path) == keys
    replace_keys(tmp_path)
    assert load_keys(tmp_path).old_signing == (keys.signing,)


@pytest.mark.parametrize("kind", ["wrapping", "signing", "session"])
def test_a_replaced_key_that_is_missing_is_named(tmp_path: Path, kind: str) -> None:
    for _ in range(2):
        load_keys(tmp_path)
        replace_keys(tmp_path)
    (tmp_path / f"{kind}.1.key").unlink()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    # No data needs a session key of before; a new one still needs its number.
    for read in (replace_keys, load_keys)[: 1 if kind == "session" else 2]:
        with pytest.raises(InputError) as caught:
            read(tmp_path)
        assert f"{kind}.1.key" in caught.value.subject
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_wrapped_key_is_of_one_purpose_and_one_server(tmp_path: Path) -> None:
    one, other = load_keys(tmp_path / "one"), load_keys(tmp_path / "other")
    key = new_key()
    wrapped = one.wrap(key, b"project 1")
    assert key not in wrapped
    assert one.unwrap(wrapped, b"project 1") == key
    assert one.wrap(key, b"project 1") != wrapped
    for keys, purpose in ((one, b"project 2"), (other, b"project 1")):
        with pytest.raises(InvalidTag):
            keys.unwrap(wrapped, purpose)


def test_the_keys_lie_outside_the_data(tmp_path: Path) -> None:
    for keys in (tmp_path, tmp_path / "keys", tmp_path / "a" / ".." / "keys"):
        with pytest.raises(InputError, match="outside"):
            check_config(ServerConfig(tmp_path, keys))
    check_config(ServerConfig(tmp_path / "data", tmp_path / "keys"))


@given(st.binary(max_size=200), st.binary(max_size=20))
def test_what_is_sealed_is_opened_again(data: bytes, purpose: bytes) -> None:
    key = new_key()
    sealed = seal(data, key, purpose)
    assert unseal(sealed, key, purpose) == data
    if len(data) > 8:
        assert data not in sealed


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK", 10)


KEY, PURPOSE = bytes(range(32)), b"records"
DATA = bytes(range(35))


def _chunks(sealed: bytes) -> tuple[bytes, list[bytes]]:
    """The head of a file and its chunks with their lengths."""
    at, parts = 16, []
    while at < len(sealed):
        size = int.from_bytes(sealed[at : at + 4], "big")
        parts.append(sealed[at : at + 4 + size])
        at += 4 + size
    return sealed[:16], parts


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 20, 35])
def test_files_of_several_chunks_are_opened_again(size: int) -> None:
    sealed = seal(DATA[:size], KEY, PURPOSE)
    assert len(_chunks(sealed)[1]) == max(1, -(-size // 10))
    assert unseal(sealed, KEY, PURPOSE) == DATA[:size]


def _refused(sealed: bytes, key: bytes = KEY, purpose: bytes = PURPOSE) -> None:
    with pytest.raises(InputError, match="as the server wrote it"):
        unseal(sealed, key, purpose)


def test_another_key_and_another_purpose_open_nothing() -> None:
    sealed = seal(DATA, KEY, PURPOSE)
    _refused(sealed, key=new_key())
    _refused(sealed, purpose=b"pairs")


@pytest.mark.usefixtures("small_chunks")
def test_a_file_that_was_cut_off_at_any_byte_is_refused() -> None:
    sealed = seal(DATA, KEY, PURPOSE)
    for length in range(len(sealed)):
        _refused(sealed[:length])


@pytest.mark.usefixtures("small_chunks")
def test_every_changed_byte_but_those_of_the_name_is_found() -> None:
    sealed = seal(DATA, KEY, PURPOSE)
    for at in range(8, len(sealed)):
        changed = bytearray(sealed)
        changed[at] ^= 1
        _refused(bytes(changed))


@pytest.mark.usefixtures("small_chunks")
def test_chunks_cannot_be_moved_left_out_repeated_or_added() -> None:
    head, parts = _chunks(seal(DATA, KEY, PURPOSE))
    a, b, c, d = parts
    for order in ([b, a, c, d], [a, c, b, d], [a, b, c], [b, c, d], [a, b, d], [a, b, b, c, d],
                  [a, b, c, d, d], [d], [a, b, c, d, a]):  # fmt: skip
        _refused(head + b"".join(order))
    _, others = _chunks(seal(DATA, KEY, PURPOSE))
    _refused(head + b"".join([a, others[1], c, d]))
    _refused(seal(DATA, KEY, PURPOSE) + b"x")


def test_files_are_written_for_their_owner_only_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "project" / "records.sealed"
    write_sealed(path, DATA, KEY, PURPOSE)
    assert _mode(path) == 0o600
    assert _mode(path.parent) == 0o700
    assert list(path.parent.iterdir()) == [path]
    assert DATA not in path.read_bytes()
    assert read_sealed(path, KEY, PURPOSE) == DATA
    with pytest.raises(InputError, match="must be there"):
        read_sealed(tmp_path / "none", KEY, PURPOSE)
