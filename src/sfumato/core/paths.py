"""What may stand where a path is asked for."""

from __future__ import annotations

import os

from sfumato.core.errors import InputError


def check_path(value: object, parameter: str = "path") -> None:
    """Refuse what is neither text nor a path.

    Parameters
    ----------
    value
        What was given.
    parameter
        Its name.

    Raises
    ------
    InputError
        If it is something else.
    """
    if not isinstance(value, (str, os.PathLike)):
        raise InputError(
            f"parameter {parameter}",
            "must be the path of a file",
            found=f"an object of type {type(value).__name__}",
            accepted="text or a pathlib.Path",
        )
