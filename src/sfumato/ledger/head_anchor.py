"""The head of a ledger, kept where its keys are: an older, cut or other ledger is refused."""

from __future__ import annotations

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from sfumato.core.chain import Head, parse_head
from sfumato.core.errors import InputError

SUFFIX = ".head"
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Anchor:
    """Where the head of a ledger is kept.

    Attributes
    ----------
    folder
        The folder of its keys.
    id
        What its first entry calls it.
    ledger
        Its file.
    """

    folder: Path
    id: str
    ledger: Path

    @property
    def _file(self) -> Path:
        return self.folder / f"{self.id}{SUFFIX}"

    def head(self) -> Head | None:
        """The head that was kept; ``None`` where none was.

        Raises
        ------
        InputError
            If what was kept is no head.
        """
        found = _kept(self._file)
        return None if found is None else found[0]

    def keep(self, head: Head) -> None:
        """Keep a head, unless a later one is kept.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        before = _kept(self._file)
        if before is None or before[0].number <= head.number:
            _write(self._file, f"{head}\n{self.ledger.resolve()}\n")

    def forget(self) -> None:
        """Know nothing of the ledger, nor of another one in its place.

        Raises
        ------
        InputError
            If what was kept is no head.
        """
        for other, path in others_in(self.folder).items():
            if other == self.id or path == self.ledger.resolve():
                (self.folder / f"{other}{SUFFIX}").unlink()

    def check_other(self) -> None:
        """Refuse a ledger in the place of another one, or one that nobody has registered.

        A folder of keys in which no head is kept takes the first ledger that comes: such a folder
        is of an earlier version, or of a new ledger.

        Raises
        ------
        InputError
            If another ledger is known to stand there, or others are known and this one is not.
        """
        others = others_in(self.folder, self.id)
        known = self.head() is not None
        if self.ledger.resolve() in others.values() and not known:
            raise InputError(
                f"ledger {self.ledger.name}",
                "must be the one that stood in its place",
                found="another ledger, which its keys have not seen",
                advice="restore it from its backup; who replaces it on purpose says so with "
                "'sfumato ledger register'",
            )
        if others and not known:
            raise InputError(
                f"ledger {self.ledger.name}",
                "must be known to the folder of its keys",
                found="a folder that knows other ledgers",
                advice="say that it belongs to them with 'sfumato ledger register'",
            )


def others_in(folder: Path, own: str = "") -> dict[str, Path]:
    """The other ledgers that keys know, by what they are called, with their files.

    Parameters
    ----------
    folder
        Where the keys are.
    own
        The ledger that is not meant.

    Raises
    ------
    InputError
        If what was kept is no head.
    """
    found = {}
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        kept = _kept(file)
        if kept is not None and file.stem != own and _ID.fullmatch(file.stem):
            found[file.stem] = kept[1]
    return found


def check_no_other(folder: Path, ledger: Path) -> None:
    """Refuse to make a ledger where one stood that is gone.

    Parameters
    ----------
    folder
        The folder of the keys.
    ledger
        The file that is to be made.

    Raises
    ------
    InputError
        If the keys know a ledger of that path.
    """
    if ledger.resolve() in others_in(folder).values() and not ledger.exists():
        raise InputError(
            f"ledger {ledger.name}",
            "must not take the place of one that is missing",
            found="keys that know a ledger of this path",
            advice="restore it from its backup, or choose another path",
        )


def _write(file: Path, text: str) -> None:
    """Write a file that its owner alone may read, whole or not at all."""
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(part, flags, 0o600), "w", encoding="utf-8") as stream:
            stream.write(text)
        part.replace(file)
    except OSError:
        raise InputError(
            f"key folder {file.parent.name}",
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
        first, path = "", ""
    try:
        return parse_head(first, "sfumato ledger checkpoint"), Path(path)
    except InputError:
        raise InputError(
            f"key folder {file.parent.name}",
            "must hold the heads of its ledgers as they were written",
            found="one that was changed",
            advice="restore it from its backup, or register the ledger anew",
        ) from None
