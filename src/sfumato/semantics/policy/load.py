"""A policy as a file, TOML for people and Turtle for exchange, both ways without loss."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from sfumato.core.errors import InputError
from sfumato.semantics.policy.model import Policy
from sfumato.semantics.policy.rdf_read import policy_from_turtle
from sfumato.semantics.policy.rdf_write import policy_to_turtle
from sfumato.semantics.policy.toml import policy_to_toml

Form = Literal["toml", "ttl"]
"""How a policy is written."""


def load_policy(path: str | os.PathLike[str], *, locate: bool = True) -> Policy:
    """Read a policy from a TOML file or, where its name ends in ``.ttl``, from Turtle.

    Parameters
    ----------
    path
        The file.
    locate
        Whether the paths of hierarchies and rules, which are relative to the file, are joined
        to its folder.

    Raises
    ------
    InputError
        If the file cannot be read, is not TOML or Turtle, or breaks a rule of `Policy`.
    """
    file = Path(path)
    subject = f"policy file {file.name}"
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(subject, "must be text in UTF-8") from None
    except OSError as error:
        found = "a folder" if isinstance(error, IsADirectoryError) else error.strerror or ""
        raise InputError(subject, "must be a file that can be read", found=found.lower()) from None
    if file.suffix.lower() == ".ttl":
        policy = policy_from_turtle(text, subject)
    else:
        policy = Policy(**_toml(text, subject))
    return located(policy, file.parent) if locate else policy


def _toml(text: str, subject: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = str(error).rpartition("(")[2].rstrip(")") or "an unknown place"
        raise InputError(subject, "must be TOML", found=f"an error {place}") from None
    except (ValueError, RecursionError):
        raise InputError(
            subject, "must be TOML", found="a number too long or brackets too deep"
        ) from None


def dump_policy(policy: Policy, form: Form = "toml") -> str:
    """Write a policy as text.

    Parameters
    ----------
    policy
        The policy.
    form
        ``"toml"``, with comments, or ``"ttl"``.

    Raises
    ------
    InputError
        If it is ``"ttl"`` and rdflib is not installed.
    """
    return policy_to_toml(policy) if form == "toml" else policy_to_turtle(policy)


def located(policy: Policy, folder: Path) -> Policy:
    """The policy with its paths joined to a folder.

    Parameters
    ----------
    policy
        The policy, as its file says.
    folder
        The folder that its paths are relative to.
    """
    return _moved(policy, lambda path: folder / path)


def relocated(policy: Policy, old: Path, new: Path) -> Policy:
    """The policy with paths relative to one folder turned into such relative to another.

    Parameters
    ----------
    policy
        The policy, as its file says.
    old, new
        The folder of that file, and of the one that will be written.
    """
    if old.resolve() == new.resolve():
        return policy

    def moved(path: Path) -> Path:
        return path if path.is_absolute() else Path(os.path.relpath(old / path, new))

    return _moved(policy, moved)


def _moved(policy: Policy, move: Callable[[Path], Path]) -> Policy:
    databases = {
        name: database.model_copy(
            update={
                "quasi_identifiers": {
                    column: qi.model_copy(update={"hierarchy": move(qi.hierarchy)})
                    if isinstance(qi.hierarchy, Path)
                    else qi
                    for column, qi in database.quasi_identifiers.items()
                }
            }
        )
        for name, database in policy.databases.items()
    }
    rules = tuple(move(path) for path in policy.rules)
    return policy.model_copy(update={"databases": databases, "rules": rules})
