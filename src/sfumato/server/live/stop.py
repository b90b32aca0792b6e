"""Why a request goes no further."""

from __future__ import annotations


class Stop(Exception):  # noqa: N818 - nothing went wrong
    """A request that is not done; nothing was charged and nothing is shown.

    Parameters
    ----------
    status
        The status of the answer.
    reason
        Why, and what to do; never a value.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
