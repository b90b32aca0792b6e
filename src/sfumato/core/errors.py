"""The errors that sfumato raises; every message is publishable (no value of the data)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_OPTIONS = ContextVar("options", default=False)


@contextmanager
def naming_options() -> Iterator[None]:
    """Within this, messages name options of the command line, not keywords of Python."""
    token = _OPTIONS.set(True)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


def typed(keyword: str, option: str) -> str:
    """What to type: of the two the one for the command line, or else for Python."""
    return option if _OPTIONS.get() else keyword


class SfumatoError(Exception):
    """Root of all errors that sfumato raises on purpose.

    A message names columns, parameters, row numbers and kinds of content, never a value of
    the data, so that it can be logged and mailed.
    """


class InputError(SfumatoError):
    """Something that was passed in (data, schema, hierarchy, parameter) breaks a rule.

    Parameters
    ----------
    subject
        What is at fault: ``"column 'age'"``, ``"parameter k"``, ``"file visits.csv"``.
    rule
        What must hold: ``"must hold numbers"``.
    found
        The kind of what was found and where: ``"text in row 17"``. Never a value; ``"none"`` is
        not said.
    accepted
        What would be accepted.
    advice
        What to do next.
    """

    def __init__(
        self, subject: str, rule: str, *, found: str = "", accepted: str = "", advice: str = ""
    ) -> None:
        self.subject = subject
        self.rule = rule
        self.found = found
        self.accepted = accepted
        self.advice = advice
        parts = [f"{subject} {rule}"]
        # What is not there at all needs no words: the rule says what had to be.
        if found not in ("", "none", "nothing"):
            parts.append(f"found {found}")
        if accepted:
            parts.append(f"accepted: {accepted}")
        if advice:
            parts.append(advice)
        text = "; ".join(parts)
        super().__init__(text if text.endswith("?") else f"{text}.")

    def about(self, subject: str) -> InputError:
        """The same of another subject: of the option, say, that a parameter was given by."""
        return InputError(
            subject, self.rule, found=self.found, accepted=self.accepted, advice=self.advice
        )


def unreadable_file(subject: str, error: OSError | ValueError, advice: str = "") -> InputError:
    """The error for a file that the system does not give."""
    if isinstance(error, FileNotFoundError):
        return InputError(subject, "is not there", advice=advice or "check the path")
    found = (getattr(error, "strerror", None) or "a path that no file can have").lower()
    if isinstance(error, IsADirectoryError):
        found = "a folder"
    return InputError(subject, "must be a file that can be read", found=found, advice=advice)


class NothingToLinkError(InputError):
    """Tables say nothing about people that could be linked."""


class ConstraintsNotMetError(SfumatoError):
    """The whole file, taken as one class, breaks a constraint, so no release can meet it.

    Parameters
    ----------
    failures
        One sentence per broken constraint: which, by how much, in which column.
    options
        What could be done instead, each with its stated loss.
    said
        What cannot be.
    """

    def __init__(
        self,
        failures: tuple[str, ...],
        options: tuple[str, ...] = (),
        said: str = "No release of this file keeps every promise.",
    ) -> None:
        self.failures = failures
        self.options = options
        lines = [said, *failures]
        if options:
            lines += ["What can be done:", *(f"- {option}" for option in options)]
        super().__init__("\n".join(lines))


class HandOverRefusedError(ConstraintsNotMetError):
    """With all that was handed over, a release would give away more than its limit."""


class LeavesWarning(DeprecationWarning):
    """Something is read that a later version refuses; says what to write instead."""
