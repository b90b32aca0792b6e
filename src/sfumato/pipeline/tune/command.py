"""The command line that makes the release of a point."""

from __future__ import annotations

import os
import shlex

from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.trial import Setting
from sfumato.release.options import Options

Name = str | os.PathLike[str]


def anonymize_command(
    setting: Setting,
    point: Point,
    *,
    data: Name,
    schema: Name,
    output: Name,
    register: Name | None = None,
    delimiter: str | None = None,
) -> str:
    """A line for a shell, its words quoted where they need it.

    Parameters
    ----------
    setting
        What all trials share.
    point
        The point.
    data, schema, output, register
        Files.
    delimiter
        The separator of a CSV file, where it was given.
    """
    words = ["sfumato", "anonymize", _file(data), "--schema", _file(schema)]
    words += ["--output", _file(output)]
    for promise in point.constraints():
        parameters = dict(promise.parameters())
        if promise.name == "presence":
            words += ["--presence-high", _number(parameters["high"])]
            continue
        limit = next(iter(parameters.values()))
        words += [f"--{promise.name.replace('_', '-')}", _number(limit)]
        if "distance" in parameters:
            words += ["--distance", str(parameters["distance"])]
    for name, value in point.options().items():
        words += [f"--{name.replace('_', '-')}", _number(value)]
    fixed, usual = setting.options, Options()
    if fixed.values is not usual.values:
        words += ["--values", fixed.values.value]
    if fixed.threshold != usual.threshold:
        words += ["--threshold", _number(fixed.threshold)]
    if fixed.unclassified is not usual.unclassified:
        words += ["--unclassified", fixed.unclassified.value]
    if setting.population is not None:
        words += ["--population", str(setting.population)]
    if register is not None:
        words += ["--register", _file(register)]
    if delimiter is not None:
        words += ["--delimiter", delimiter]
    return shlex.join([*words, "--seed", str(setting.seed)])


def _number(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _file(path: Name) -> str:
    """A file's name that no command takes for an option."""
    text = os.fspath(path)
    return f"./{text}" if text.startswith("-") else text
