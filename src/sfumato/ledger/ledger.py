"""A ledger: one file, opened with its keys, whose head can be kept elsewhere."""

from __future__ import annotations

import os
import secrets
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sfumato.core.chain import START, Head, Verdict
from sfumato.core.errors import InputError
from sfumato.ledger import head_anchor, ledger_store
from sfumato.ledger.signed_log import Log, verify_log

# A hand-over holds the lock while it compares: two releases of a million persons take 12 to 22 s.
WAIT = 30.0
"""Seconds to wait for other processes that write."""
_MADE = "ledger"


@dataclass(frozen=True, eq=False)
class Ledger:
    """An append-only, chained and signed file of releases; made by `Ledger.open`.

    What it reads is checked against what was signed; a ledger that was changed is refused.
    It is used from one thread; several processes may have it open, and one at a time writes.
    """

    path: Path
    _log: Log
    _keys: ledger_store.LedgerKeys

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        keys: str | os.PathLike[str],
        *,
        make: bool = False,
        first: bool = False,
        anchored: bool = True,
        head: str | os.PathLike[str] | None = None,
        wait: float = WAIT,
    ) -> Self:
        """Open a ledger, or make it.

        Parameters
        ----------
        make
            Whether to make a ledger, and its key, where there is none.
        first
            Whether to make none beside others that its keys know.
        anchored
            Whether to refuse a ledger that is not the one, as it was last, that its keys know.
        head
            A file elsewhere that holds its head as well: a new ledger names it itself from then on.
        wait
            Seconds to wait for other processes that write.
        """
        file = Path(path)
        new = make and not file.exists()
        if not new:
            ledger_store.check_there(file)
        elif head is not None:
            head_anchor.check_new(Path(head), file, Path(keys))
        ledger_keys = ledger_store.load_ledger_keys(Path(keys), file, make=new)
        if new:
            head_anchor.check_no_other(Path(keys), file, first=first)
            about = {"version": ledger_store.VERSION, "id": secrets.token_hex(16), "parts": {}}
            if head is not None:
                about["head"] = str(Path(head).resolve())
            ledger_store.create(
                file, ledger_store.next_entry(Head(0, START), _MADE, "", about, ledger_keys)
            )
        connection = ledger_store.connect(file, wait)
        try:
            log = Log(connection, file, ledger_keys, None if head is None else Path(head))
            ledger = cls(file, log, ledger_keys)
            # The key first: what is signed by another one says nothing of where the head is kept.
            log.check_key()
            if new:
                # From the first entry on, or the ledger could be
                # taken away before a second one without a trace.
                log.anchor().keep(log.head())
            elif anchored:
                log.check_anchor()
        except InputError:
            connection.close()
            raise
        return ledger

    def close(self) -> None:
        """Close the file."""
        self._log.connection.close()

    def __enter__(self) -> Self:
        """The ledger, closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def changing(self) -> AbstractContextManager[None]:
        """Note all that the block notes together, or none of it where it fails."""
        return self._log.changing()

    def head(self) -> Head:
        """The last entry: keep it elsewhere, and verify against it later."""
        return self._log.head()

    def verify(self, against: Head | None = None) -> Verdict:
        """Check that nothing was changed, left out or rewritten.

        With a head that was kept elsewhere, a ledger that was cut off, or rewritten by somebody who
        holds the key, is found too.
        """
        return verify_log(self._log, against)

    def kept(self) -> Head | None:
        """The last head that was kept outside it; ``None`` where nothing is known of it."""
        return self._log.anchor().last()

    def register(self, *, note: str, by: str, head: str | os.PathLike[str] | None = None) -> None:
        """Let its keys know the ledger as it is: one that was restored, or that they never saw.

        A file that holds its head as well from now on may be named.
        """
        check_said(note=note, by=by)
        # The chain is checked before, so that a ledger that was changed is not vouched for.
        self._log.entries()
        self._log.register(note, by, None if head is None else Path(head))


def check_said(**texts: str) -> None:
    """Refuse what an entry has to say and nobody has said."""
    for name, text in texts.items():
        if not text.strip():
            raise InputError(f"parameter {name}", "must say something", found="nothing")
