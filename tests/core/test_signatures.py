"""Signatures: what a receiver finds out, whatever was changed, and by whom."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sfumato.cli import sign_commands
from sfumato.core import signatures
from sfumato.core.errors import InputError
from sfumato.core.signatures import (
    SIGNATURE,
    Checked,
    Decision,
    FileState,
    Statement,
    check_signature,
    load_key,
    load_public_key,
    new_key,
)
from sfumato.release.release_manifest import file_sha256

FILES = ("release/release.csv", "public/report.json", "reports/report.json")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "keys" / "anna"
    new_key(path)
    return path


@pytest.fixture
def signed(tmp_path: Path, key: Path) -> Path:
    """The folder of a signed release."""
    folder = tmp_path / "output"
    for number, name in enumerate(FILES):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(f"{number}\n")
    hashes = {name: file_sha256(folder / name) for name in FILES}
    statement = Statement(
        Decision.RELEASED,
        "officer (Anna)",
        "contract 17, für Zürich",
        "2026-11-29T21:00:00+00:00",
        "university",
        {"verdict": {"headline": "Ready.", "found": [0.1, 1e-17]}},
        {FILES[0]: hashes[FILES[0]]},
        {name: hashes[name] for name in FILES[1:]},
    )
    (folder / SIGNATURE).write_text(statement.signed(load_key(key)))
    return folder


def checked(folder: Path, signer: Path | None = None) -> Checked:
    return check_signature(folder, signer)


def test_unchanged_is_told_with_and_without_the_key(signed: Path, key: Path) -> None:
    public = key.with_name("anna.pub")
    known, unknown = checked(signed, public), checked(signed / SIGNATURE)
    assert (known.is_known, known.is_measured, known.fault) == (True, True, "")
    assert unknown.sentence == "Unchanged since signing. Signer unknown."
    assert (unknown.is_known, unknown.is_measured) == (None, False)
    assert known.statement == unknown.statement
    assert set(known.files.values()) == {FileState.UNCHANGED}
    assert known.signer.startswith("SHA256:")


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_is_named(signed: Path, key: Path, name: str) -> None:
    (signed / name).write_text("0 \n")
    found = checked(signed, key.with_name("anna.pub"))
    assert name in found.fault
    assert found.files[name] is FileState.CHANGED


def test_what_was_added_or_is_missing_is_found_out(signed: Path, key: Path) -> None:
    public = key.with_name("anna.pub")
    (signed / "release" / "raw.csv").write_text("1\n")
    (signed / "public" / "mine.txt").write_text("1\n")  # nobody was given that folder to use
    found = checked(signed, public)
    assert found.fault
    assert [name for name, state in found.files.items() if state is FileState.ADDED] == [
        "release/raw.csv"
    ]
    (signed / "release" / "raw.csv").rename(signed / "release" / "release.csv")
    assert checked(signed, public).fault
    (signed / "release" / "release.csv").unlink()
    gone = checked(signed, public)
    assert (gone.is_measured, gone.fault) == (False, "")


def test_nothing_signed_passes_for_another_line() -> None:
    key = Ed25519PrivateKey.generate()
    for by, because, to in (
        ("anna\nKey: x", "why", "us"),
        ("anna", "why\x1b[2K", "us"),
        ("anna", "why\u2028Key: x", "us"),
        ("anna", "why", "us\u202egpj"),
        ("anna", "why", "us\u2066x"),
    ):
        with pytest.raises(InputError, match="control characters"):
            Statement(Decision.RELEASED, by, because, "now", to, {}, {}).signed(key)
    # Spaces that do not break, and what joins letters of a name, are of no other line.
    names = "10\u00a0%", "1\u202f000", "می\u200cخواهم"
    assert Statement(Decision.REFUSED, *names, "us", {}, {}).signed(key)


def test_a_foreign_signature_is_read_and_no_line_of_it_passes_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"by": "anna\nKey: x", "because": "why\x1b[2K\u202e", "time": "now", "to": "us\u2029"}
    for verdict in (None, "Ready.", ["Ready."], {"headline": "Ready.\nKey: x"}):
        made = Statement(Decision.RELEASED, **said, about={"verdict": verdict}, leaving={"a\n": ""})
        monkeypatch.setattr(signatures, "one_line", lambda text: text)
        (tmp_path / SIGNATURE).write_text(made.signed(Ed25519PrivateKey.generate()))
        monkeypatch.undo()
        assert checked(tmp_path).statement == made
        shown = "\n".join(sign_commands._lines(checked(tmp_path)))
        assert not {"\x1b", "\u202e", "\u2029"} & {*shown}
        assert sum(line.startswith("Key:") for line in shown.splitlines()) == 1
        assert ("Verdict:   none" in shown) == (not isinstance(verdict, dict))


def _leaves(plain: object, way: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    if isinstance(plain, dict):
        return [one for name, each in plain.items() for one in _leaves(each, (*way, name))]
    return [way]


def test_every_part_of_the_statement_is_signed(signed: Path, key: Path) -> None:
    original = (signed / SIGNATURE).read_text()
    ways = _leaves(json.loads(original)["statement"])
    assert len(ways) > 8
    for way in ways:
        content = json.loads(original)
        place = content["statement"]
        for step in way[:-1]:
            place = place[step]
        last = way[-1]
        place[last] = "refused" if last == "decision" else ["x"] if last == "found" else "other"
        (signed / SIGNATURE).write_text(json.dumps(content))
        for signer in (None, key.with_name("anna.pub")):
            assert checked(signed, signer).fault.startswith("The signature ")


def test_another_signer_is_found_out(signed: Path, tmp_path: Path, key: Path) -> None:
    other = tmp_path / "mallory"
    new_key(other)
    statement = checked(signed).statement
    (signed / SIGNATURE).write_text(statement.signed(load_key(other)))
    assert not checked(signed).fault
    found = checked(signed, key.with_name("anna.pub"))
    assert found.is_known is False
    assert "another key" in found.fault


def test_a_receiver_needs_only_what_was_handed_over(
    signed: Path, tmp_path: Path, key: Path
) -> None:
    flat = tmp_path / "mail"
    flat.mkdir()
    public = key.with_name("anna.pub")
    for name in (SIGNATURE, FILES[0], FILES[1]):  # its report has the name of one that stays
        (flat / Path(name).name).write_bytes((signed / name).read_bytes())
    found = checked(flat, public)
    assert (found.is_measured, found.fault) == (True, "")
    assert found.files[FILES[2]] is FileState.NOT_HERE
    (flat / "release.csv").unlink()
    without = checked(flat, public)
    assert (without.is_measured, without.fault) == (False, "")


def test_what_lies_beside_files_without_their_folder_is_signed_too(
    signed: Path, tmp_path: Path, key: Path
) -> None:
    flat = tmp_path / "mail"
    flat.mkdir()
    for name in (SIGNATURE, FILES[0]):
        (flat / Path(name).name).write_bytes((signed / name).read_bytes())
    public = flat / "anna.pub"
    public.write_bytes(key.with_name("anna.pub").read_bytes())
    assert not checked(flat, public).fault
    (flat / "raw.csv").write_text("1\n")
    found = checked(flat, public)
    assert found.fault
    assert [name for name, state in found.files.items() if state is FileState.ADDED] == ["raw.csv"]


def test_of_a_file_in_both_places_both_are_looked_at(signed: Path, key: Path) -> None:
    twin = signed / "release.csv"
    twin.write_bytes((signed / FILES[0]).read_bytes())
    assert not checked(signed, key.with_name("anna.pub")).fault
    twin.write_text("another\n")
    found = checked(signed, key.with_name("anna.pub"))
    assert found.files[FILES[0]] is FileState.CHANGED


def test_a_signature_looks_at_no_file_elsewhere(signed: Path, tmp_path: Path, key: Path) -> None:
    for name in ("../keys/anna", "/etc/passwd", "release/a\0"):
        content = json.loads((signed / SIGNATURE).read_text())
        content["statement"]["inside"][name] = "0" * 64
        (signed / SIGNATURE).write_text(json.dumps(content))
        with pytest.raises(InputError, match="sfumato sign"):
            checked(signed)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"form": 2}', "\xff", "1" * 5000])
def test_something_else_is_no_signature(tmp_path: Path, text: str) -> None:
    file = tmp_path / SIGNATURE
    file.write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match="must be a signature"):
        check_signature(file)


def test_a_reason_and_a_name_are_needed() -> None:
    for by, because, to in (("", "why", "us"), ("anna", " ", "us"), ("anna", "why", "")):
        with pytest.raises(InputError, match="must say something"):
            Statement(Decision.RELEASED, by, because, "now", to, {}, {})
    Statement(Decision.REFUSED, "anna", "too much", "now", "", {}, {})


def test_a_key_is_its_owners_alone_and_never_replaced(key: Path) -> None:
    assert key.stat().st_mode & 0o777 == 0o600
    before = key.read_bytes()
    with pytest.raises(InputError, match="must be a new file"):
        new_key(key)
    assert key.read_bytes() == before
    key.chmod(0o640)
    with pytest.raises(InputError, match="owner only"):
        load_key(key)
    key.chmod(0o600)
    key.write_bytes(key.with_name("anna.pub").read_bytes())
    with pytest.raises(InputError, match="must hold a key"):
        load_key(key)


def test_a_key_whose_public_half_cannot_be_written_is_not_left(tmp_path: Path) -> None:
    (tmp_path / "anna.pub").mkdir()
    with pytest.raises(InputError):
        new_key(tmp_path / "anna")
    assert not (tmp_path / "anna").exists()


def test_openssl_reads_the_keys(key: Path) -> None:
    shown = subprocess.run(
        ["openssl", "pkey", "-in", os.fspath(key), "-pubout"], capture_output=True, check=True
    ).stdout
    assert shown == key.with_name("anna.pub").read_bytes()
    assert load_public_key(key.with_name("anna.pub")) is not None
