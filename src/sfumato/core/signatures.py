"""A decision about files, signed: who decided what and why, and whether the files are unchanged."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any
from unicodedata import category

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import ConfigDict, TypeAdapter, ValidationError

from sfumato.core.chain import detail_text
from sfumato.core.errors import InputError, unreadable_file

SIGNATURE = "signature.json"
"""The signature of a release, beside the folders of what it is about."""
PUBLIC_SUFFIX = ".pub"
# What else the same key may sign must never read as one of these.
_DOMAIN = b"sfumato signature of files, form 1\0"
_FORM = 1
_LARGEST = 1 << 24
"""Bytes of a signature that are read: a larger file is something else."""
_CHUNK = 1 << 20
# Controls, line and paragraph separators, halves of signs; and what changes the direction of text.
_BREAKS = {"Cc", "Zl", "Zp", "Cs"}
_TURNS = {chr(number) for number in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


class Decision(StrEnum):
    """What was decided."""

    RELEASED = "released"
    REFUSED = "refused"


@dataclass(frozen=True)
class Statement:
    """What is signed.

    Attributes
    ----------
    time
        When, in UTC, as ISO 8601.
    to
        Who gets the files; empty where that was refused.
    about
        What else is said, as plain values: the verdict as anybody may read it.
    leaving
        Hashes of the files that are handed over, by their path beside the signature.
    inside
        Those of the files that stay: whoever was not given one is not asked for it.
    """

    __pydantic_config__ = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    decision: Decision
    by: str
    because: str
    time: str
    to: str
    about: Mapping[str, Any]
    leaving: Mapping[str, str]
    inside: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("by", "because", *(("to",) if self.decision is Decision.RELEASED else ())):
            if not getattr(self, name).strip():
                raise InputError(f"signature: {name}", "must say something", found="nothing")

    @property
    def headline(self) -> str:
        """What the verdict says first; ``none`` where nothing is said of it."""
        verdict = self.about.get("verdict")
        return str(verdict.get("headline", "none")) if isinstance(verdict, Mapping) else "none"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"decision": self.decision.value}

    @property
    def _bytes(self) -> bytes:
        return _DOMAIN + detail_text(self.to_json()).encode("ascii")

    def signed(self, key: Ed25519PrivateKey) -> str:
        """The statement with its signature, as the text of a file."""
        said = (self.by, self.because, self.time, self.to, *self.leaving, *self.inside)
        if any(one_line(text) != text for text in said):
            raise InputError(
                "signature", "must hold no line breaks or control characters", found="one"
            )
        content = {
            "form": _FORM,
            "statement": self.to_json(),
            "signer": _raw(key.public_key()).hex(),
            "signature": key.sign(self._bytes).hex(),
        }
        return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def is_signed(self, signature: bytes, signer: Ed25519PublicKey) -> bool:
        """Whether a key made a signature of it."""
        try:
            signer.verify(signature, self._bytes)
        except InvalidSignature:
            return False
        return True


def one_line(text: str) -> str:
    """A text without what breaks or turns a line: each such sign is a question mark."""
    return "".join("?" if category(sign) in _BREAKS or sign in _TURNS else sign for sign in text)


class FileState(StrEnum):
    """How a signed file is."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    NOT_HERE = "not here"
    ADDED = "not signed"
    """It lies among the files that were handed over, and was not signed."""


@dataclass(frozen=True)
class Checked:
    """What a check of a signature found.

    Attributes
    ----------
    is_known
        Whether that is the key that was given; ``None`` where none was.
    fault
        What is wrong, empty where nothing is.
    """

    statement: Statement
    signer: str
    is_known: bool | None
    files: Mapping[str, FileState]
    fault: str

    @property
    def sentence(self) -> str:
        """What is to be said of it first."""
        if self.fault:
            return self.fault
        if not self._all_here:
            return "Not all of the files that were handed over are here."
        if self.is_known is None:
            return "Unchanged since signing. Signer unknown."
        return "Unchanged since signing. Signed by the key that was given."

    @property
    def is_measured(self) -> bool:
        """Whether the signer is known, and every file that was handed over is here."""
        return self.is_known is not None and self._all_here

    @property
    def _all_here(self) -> bool:
        leaving = self.statement.leaving
        return all(self.files[name] is FileState.UNCHANGED for name in leaving) and bool(leaving)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "sentence": self.sentence,
            "unchanged": not self.fault,
            "signer": self.signer,
            "signer_known": self.is_known,
            "statement": self.statement.to_json(),
            "files": {name: state.value for name, state in self.files.items()},
        }


def check_signature(path: str | os.PathLike[str], signer: Path | None = None) -> Checked:
    """Check a signature, or a folder's, and the files that it is about, as far as they are there.

    A file is looked for where it was, and by its name alone in the folder of the signature. Where a
    file lies there that was handed over, every other one there must be signed, too. Without the
    public key of who should have signed nobody is known to have.
    """
    file = Path(path)
    if file.is_dir():
        file /= SIGNATURE
    statement, named, signature = _read(file)
    given = None if signer is None else load_public_key(signer)
    is_known = None if given is None else _raw(given) == _raw(named)
    signed = {**statement.leaving, **statement.inside}
    files = {name: _state(file.parent, name, signed) for name in signed}
    files |= dict.fromkeys(_added(file, signer, statement), FileState.ADDED)
    changed = [name for name, state in files.items() if state is FileState.CHANGED]
    added = [name for name, state in files.items() if state is FileState.ADDED]
    fault = ""
    if not statement.is_signed(signature, named):
        fault = "The signature was changed since signing."
    elif is_known is False:
        fault = "Signed by another key than the one that was given."
    elif changed:
        fault = f"Changed since signing: {', '.join(changed)}."
    elif added:
        fault = f"Files added since signing, not signed: {len(added)}."
    return Checked(statement, fingerprint(named), is_known, files, fault)


def _read(file: Path) -> tuple[Statement, Ed25519PublicKey, bytes]:
    """The statement of a file, the key that it names, and the signature."""
    try:
        with file.open("rb") as stream:
            content = json.loads(stream.read(_LARGEST))
        statement = _statement(content["form"], content["statement"])
        signer = Ed25519PublicKey.from_public_bytes(bytes.fromhex(content["signer"]))
        return statement, signer, bytes.fromhex(content["signature"])
    except OSError as error:
        raise InputError(
            f"file {file.name}",
            "must be a signature that can be read",
            found=(error.strerror or "another").lower(),
            advice=f"name the {SIGNATURE} that came with the release, or its folder",
        ) from None
    # The file may be anybody's. Whatever is wrong with it is one mistake to its reader.
    except (ValueError, KeyError, TypeError, RecursionError, ValidationError, InputError):
        raise InputError(
            f"file {file.name}",
            "must be a signature that 'sfumato sign' wrote",
            found="something else",
        ) from None


def _statement(form: int, plain: Any) -> Statement:
    """A statement of plain values; a ValueError if it is none, or about files elsewhere."""
    statement = TypeAdapter(Statement).validate_json(json.dumps(plain))
    paths = map(PurePosixPath, (*statement.leaving, *statement.inside))
    # Whoever made the file must not have others looked at; no file has a name with a zero.
    if form != _FORM or any(
        path.is_absolute() or ".." in path.parts or "\0" in str(path) for path in paths
    ):
        raise ValueError
    return statement


def _added(file: Path, signer: Path | None, statement: Statement) -> list[str]:
    """Files that nobody signed among those that were handed over, by their path."""
    folder, leaving = file.parent, [PurePosixPath(name) for name in statement.leaving]
    folders = {name.parts[0] for name in leaving if len(name.parts) > 1}
    within = [path for name in sorted(folders) for path in (folder / name).rglob("*")]
    signed = {folder / name for name in leaving}
    if any(os.path.lexists(folder / name.name) for name in leaving):
        beside, key = sorted(folder.iterdir()), signer and os.path.realpath(signer)
        # The signature and the key that it is checked with are none of them.
        flat = (*statement.leaving, *statement.inside)
        signed |= {file, *(folder / PurePosixPath(name).name for name in flat)}
        within += [path for path in beside if os.path.realpath(path) != key]
    files = (path for path in within if path.is_symlink() or path.is_file())
    return [path.relative_to(folder).as_posix() for path in files if path not in signed]


def _state(folder: Path, name: str, signed: Mapping[str, str]) -> FileState:
    last = PurePosixPath(name).name
    # Two folders may have a file of one name: in one folder that is the one or the other.
    twins = {sha256 for other, sha256 in signed.items() if PurePosixPath(other).name == last}
    state = FileState.NOT_HERE
    for path, others in ((folder / name, {signed[name]}), (folder / last, twins)):
        try:
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError:
            continue
        if digest not in others:
            return FileState.CHANGED
        if digest == signed[name]:
            state = FileState.UNCHANGED
    return state


def new_key(path: Path) -> str:
    """The fingerprint of a new key: its owner alone may read it; its public half lies beside it.

    Parameters
    ----------
    path
        A new file; the public half is the same with ``.pub`` behind it.
    """
    key, public = Ed25519PrivateKey.generate(), path.with_name(path.name + PUBLIC_SUFFIX)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    shown = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    made: list[Path] = []
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file, content, mode in ((path, private, 0o600), (public, shown, 0o644)):
            # Never over another key: what it signed could not be signed again.
            number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            made.append(file)
            with os.fdopen(number, "wb") as stream:
                stream.write(content)
                os.fsync(stream.fileno())
    except OSError as error:
        for file in made:
            file.unlink(missing_ok=True)
        raise InputError(
            f"key {path.name}",
            "must be a new file that can be written",
            found=(error.strerror or "another").lower(),
            advice="name another file",
        ) from None
    return fingerprint(key.public_key())


def load_key(path: Path) -> Ed25519PrivateKey:
    """The private key that a file holds; only its owner may be able to read it."""
    content = _content(path, lambda: bool(path.stat().st_mode & 0o077))
    try:
        key = serialization.load_pem_private_key(content, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(path, "key that 'sfumato key new' wrote")
    return key


def load_public_key(path: Path) -> Ed25519PublicKey:
    """The public key that a file holds."""
    content = _content(path, lambda: False)
    try:
        key = serialization.load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(path, "public key that 'sfumato key new' wrote")
    return key


def fingerprint(key: Ed25519PublicKey) -> str:
    """What tells two keys apart and can be read out: SHA-256 of the key, as ssh writes it."""
    digest = hashlib.sha256(_raw(key)).digest()
    return f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"


def _raw(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def _content(path: Path, is_open: Callable[[], bool]) -> bytes:
    try:
        if is_open():
            raise InputError(
                f"key {path.name}", "must be readable by its owner only", advice="chmod 600"
            )
        with path.open("rb") as stream:
            return stream.read(_CHUNK)
    except OSError as error:
        advice = "'sfumato key new FILE' makes one"
        raise unreadable_file(f"key {path.name}", error, advice) from None


def _no_key(path: Path, kind: str) -> InputError:
    return InputError(f"key {path.name}", f"must hold a {kind}", found="something else")
