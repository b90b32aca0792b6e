"""What the tests of the door share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sfumato.core.errors import InputError

CANARY = "kanarienvogel"


def chain(error: BaseException) -> list[str]:
    """The texts of an error and of all errors that a traceback would show with it."""
    texts: list[str] = []
    shown: BaseException | None = error
    while shown is not None:
        texts += [str(shown), repr(shown.args)]
        shown = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)
    return texts


@pytest.fixture(scope="session")
def canary() -> str:
    """A value that no message may show."""
    return CANARY


@pytest.fixture(scope="session")
def refused() -> Callable[..., str]:
    """Call something that must raise InputError without the canary; gives the message."""

    def check(call: Callable[[], Any], *said: str) -> str:
        with pytest.raises(InputError) as caught:
            call()
        for text in chain(caught.value):
            assert CANARY not in text.lower()
        message = str(caught.value)
        for part in said:
            assert part in message
        return message

    return check
