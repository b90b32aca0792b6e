"""What clingo refuses, said in our words and never printed by it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sfumato.core.errors import InputError

Logger = Callable[[Any, str], None]
_PLACE = re.compile(r"^[^\n]*?:(\d+):[-\d:]*: error: (.*)", re.DOTALL)


def with_clingo(run: Callable[[Logger], object], subject: str) -> None:
    """Let clingo work, and say its errors in our words.

    Parameters
    ----------
    run
        What to do; it is given a logger.
    subject
        What an error is about.

    Raises
    ------
    InputError
        If clingo refuses.
    """
    messages: list[str] = []
    try:
        run(lambda _code, message: messages.append(message))
    except (RuntimeError, MemoryError):
        found = next((each for each in map(_PLACE.match, messages) if each), None)
        if found is None:
            raise InputError(subject, "must be rules that clingo can run") from None
        line, said = found.groups()
        what = " ".join(said.split("note:")[0].split())
        what = what.partition(" in: ")[0] if what.startswith("unsafe") else what
        what = re.sub(r"\[#inc_base\];", "", re.sub(r" <[^>]*>:\d+:[-\d]+:$", "", what))
        if what.startswith("unsafe"):
            names = re.findall(r"note: ('\w+')", said)
            what = f"a variable that nothing binds, {', '.join(names)}"
        raise InputError(
            subject, "must be rules that clingo can run", found=f"in line {line}: {what}"
        ) from None
