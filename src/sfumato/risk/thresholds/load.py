"""Presets by name, and a custodian's own from a TOML file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.risk.thresholds.preset import Preset, Threshold

BUILT_IN = Path(__file__).with_name("presets.toml")
_FIELDS = {"name", "source", "says", "evidence", "thresholds"}
_LIMITS = {"measure", "limit", "above"}


def thresholds(
    *names: str | Preset, file: str | os.PathLike[str] | None = None
) -> tuple[Preset, ...]:
    """Presets of thresholds, each with its source and evidence.

    Parameters
    ----------
    names
        Names of built-in presets, or presets of one's own; without names and file, all that are
        built in.
    file
        A TOML file with the custodian's own; all of it is taken.

    Raises
    ------
    InputError
        If there is no preset of a name, or the file breaks a rule.

    Examples
    --------
    >>> [preset] = thresholds("cms")
    >>> preset.thresholds
    (Threshold(measure='pid_k', limit=11, above=None),)
    """
    known = _built_in()
    if not names and file is None:
        return tuple(known.values())
    found = {each.name: each for each in _named(names, known)}
    own = [] if file is None else _read(Path(file))
    for each in own:
        if each.name in known or each.name in found:
            raise InputError(
                f"preset '{each.name}' of {Path(file or '').name}",
                "must have a name of its own",
                found="the name of another preset",
            )
        found[each.name] = each
    return tuple(found.values())


def _named(names: Iterable[str | Preset], known: dict[str, Preset]) -> Iterable[Preset]:
    for name in names:
        if isinstance(name, Preset):
            yield name
        elif name in known:
            yield known[name]
        else:
            raise InputError(
                "the name of a preset",
                "must be one of those that are built in",
                accepted=", ".join(known),
                advice="'sfumato presets' lists them",
            )


@cache
def _built_in() -> dict[str, Preset]:
    return {each.name: each for each in _read(BUILT_IN)}


def _read(file: Path) -> list[Preset]:
    subject = f"thresholds file {file.name}"
    try:
        fields = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(subject, "must be text in UTF-8") from None
    except OSError:
        raise InputError(subject, "must be a file that can be read") from None
    except tomllib.TOMLDecodeError as error:
        place = str(error).rpartition("(")[2].rstrip(")") or "an unknown place"
        raise InputError(subject, "must be TOML", found=f"an error {place}") from None
    except (ValueError, RecursionError):
        raise InputError(subject, "must be TOML") from None
    entries = fields.get("preset")
    if not isinstance(entries, list) or not entries or set(fields) != {"preset"}:
        raise InputError(subject, "must hold presets and nothing else", accepted="[[preset]]")
    presets = [_preset(f"preset {at} of {file.name}", each) for at, each in enumerate(entries, 1)]
    if len({each.name for each in presets}) < len(presets):
        raise InputError(subject, "must give every preset a name of its own")
    return presets


def _preset(subject: str, fields: Any) -> Preset:
    if not isinstance(fields, dict) or not set(fields) <= _FIELDS:
        raise InputError(subject, "must have known fields", accepted=", ".join(sorted(_FIELDS)))
    given = {name: value for name, value in fields.items() if name != "thresholds"}
    if not all(isinstance(value, str) and value.strip() for value in given.values()):
        raise InputError(subject, "must have text in its fields", accepted='name = "..."')
    if "name" not in given:
        raise InputError(subject, "must have a name")
    limits = fields.get("thresholds", [])
    if not isinstance(limits, list):
        raise InputError(subject, "must have a list of thresholds")
    return Preset(**given, thresholds=tuple(_threshold(subject, each) for each in limits))


def _threshold(subject: str, fields: Any) -> Threshold:
    if not isinstance(fields, dict) or not {"measure", "limit"} <= set(fields) <= _LIMITS:
        raise InputError(
            subject,
            "must have thresholds with a measure and a limit",
            accepted='{ measure = "pid_k", limit = 11 }',
        )
    try:
        return Threshold(**fields)
    except InputError as error:
        raise InputError(
            f"{subject}: {error.subject}", error.rule, accepted=error.accepted
        ) from None
    except TypeError:
        raise InputError(subject, "must name its measures by text") from None
