"""The head of a ledger, kept outside it: an older, cut or other ledger is refused."""

from __future__ import annotations

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from sfumato.core.chain import Head, parse_head
from sfumato.core.errors import InputError

SUFFIX = ".head"
# By its form, as the folder may hold other files with that ending.
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Anchor:
    """Where the head of a ledger is kept; the id is what its first entry calls it."""

    folder: Path
    id: str
    ledger: Path
    elsewhere: tuple[Path, ...] = ()

    @property
    def _file(self) -> Path:
        return self.folder / f"{self.id}{SUFFIX}"

    def heads(self) -> list[Head]:
        """What was kept: beside its keys, where it is known there, and elsewhere."""
        # One elsewhere must be there: who cuts the ledger may take the file with its head away.
        for file in self.elsewhere:
            if _kept(file) is None:
                raise InputError(
                    f"file {file.name}",
                    f"must hold the head of ledger {self.ledger.name}",
                    found="no such file",
                    advice="mount its disk or restore it; where it is gone for good, or new, say "
                    "so with 'sfumato ledger register --head FILE'",
                )
        return self._known()

    def _known(self) -> list[Head]:
        kept = [_kept(each) for each in (self._file, *self.elsewhere)]
        return [each[0] for each in kept if each is not None]

    def last(self) -> Head | None:
        """The head that was kept last, wherever; ``None`` where none was."""
        return max(self._known(), key=lambda each: each.number, default=None)

    def keep(self, head: Head) -> None:
        """Keep a head, unless a later one is kept."""
        for file in (self._file, *self.elsewhere):
            before = _kept(file)
            # Of two processes that noted something the slower
            # one may come last with the older head.
            if before is None or before[0].number <= head.number:
                _write(file, f"{head}\n{self.ledger.resolve()}\n")

    def forget(self) -> None:
        """Know nothing of the ledger, nor of another one in its place."""
        for other, path in others_in(self.folder).items():
            if other == self.id or path == self.ledger.resolve():
                (self.folder / f"{other}{SUFFIX}").unlink()
        for file in self.elsewhere:
            if _kept(file) is not None:  # what is no head stays
                file.unlink()

    def check_other(self) -> None:
        """Refuse a ledger in the place of another one, or one that nobody has registered.

        A folder of keys in which no head is kept takes the first ledger that comes: such a folder
        is of an earlier version, or of a new ledger.
        """
        others = others_in(self.folder, self.id)
        is_registered = _kept(self._file) is not None
        if self.ledger.resolve() in others.values() and not is_registered:
            raise InputError(
                f"ledger {self.ledger.name}",
                "must be the one that stood in its place",
                found="another ledger, which its keys have not seen",
                advice="restore it from its backup; who replaces it on purpose says so with "
                "'sfumato ledger register'",
            )
        if others and not is_registered:
            raise InputError(
                f"ledger {self.ledger.name}",
                "must be known to the folder of its keys",
                found="a folder that knows other ledgers",
                advice="say that it belongs to them with 'sfumato ledger register'",
            )


def others_in(folder: Path, own: str = "") -> dict[str, Path]:
    """The other ledgers that keys in a folder know, by what they are called, with their files."""
    ledgers = {}
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        kept = _kept(file)
        if kept is not None and file.stem != own and _ID.fullmatch(file.stem):
            ledgers[file.stem] = kept[1]
    return ledgers


def check_no_other(folder: Path, ledger: Path, *, first: bool) -> None:
    """Refuse to make a ledger where one stood that is gone; a first one beside others, too."""
    others = others_in(folder)
    if first and others and ledger.resolve() not in others.values():
        raise InputError(
            f"ledger {ledger}",
            "must be the first that its keys know",
            found="keys that know other ledgers",
            advice="name the one that remembers these people; 'sfumato ledger create' makes a "
            "second one, which is never compared with them",
        )
    if ledger.resolve() in others.values() and not ledger.exists():
        raise InputError(
            f"ledger {ledger}",
            "must not take the place of one that is missing",
            found="keys that know a ledger of this path",
            advice="restore it from its backup, or choose another path",
        )


def check_new(file: Path, ledger: Path, folder: Path) -> None:
    """Refuse a file for the head of a ledger that is no new one elsewhere."""
    # Who restores these folders from a backup would restore an old head with them.
    if {ledger.resolve().parent, folder.resolve()} & set(file.resolve().parents):
        raise InputError(
            f"file {file.name}",
            "must be outside the folders of the ledger and its keys",
            found="one in them",
            advice="best it is on another machine's disk",
        )
    if file.exists():
        raise InputError(
            f"file {file.name}",
            "must be a new file for the head of a new ledger",
            found="one that is there",
        )


def _write(file: Path, text: str) -> None:
    """Write a file that its owner alone may read, whole or not at all."""
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(part, flags, 0o600), "w", encoding="utf-8") as stream:
            stream.write(text)
        # Replaced at one stroke: a head that is cut off by a crash would refuse the whole ledger.
        part.replace(file)
    except OSError:
        raise InputError(
            f"folder {file.parent.name}",
            "must be a folder that can be written",
            found="one that cannot",
            advice="the ledger's head is kept there",
        ) from None
    finally:
        part.unlink(missing_ok=True)


def _kept(file: Path) -> tuple[Head, Path] | None:
    try:
        first, _, path = file.read_text(encoding="utf-8").rstrip("\n").partition("\n")
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        # Damaged is not missing: who empties the file must not make the ledger unknown by it.
        first, path = "", ""
    try:
        return parse_head(first, "sfumato ledger checkpoint"), Path(path)
    except InputError:
        raise InputError(
            f"file {file.name}",
            "must hold the head of a ledger as it was written",
            found="something else",
            advice="restore it from its backup, or register the ledger anew",
        ) from None
