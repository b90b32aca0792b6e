"""Numbers as people read them, exact or coarse, and the templates of pages that print them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from sfumato.core.measure import ESTIMATED, Measure, Position
from sfumato.core.number_text import MANY_COLUMNS, NONE, count, number, percent
from sfumato.core.phrases import (
    ENGLISH,
    UNREAD,
    Listed,
    Phrase,
    Plural,
    Sentence,
    gettext,
    joined,
    language,
    long_date,
    ngettext,
    speaking,
    spoken,
)

COUNT, SHARE, NUMBER = "count", "share", "number"
"""The scales on which a coarse number is printed."""
TRANSLATED = frozenset(
    {"release.html", "attack.html", "linkage.html", "linkage_encodings.html", "tune.html",
     "project.html", "dossier.html", "series.html",
    }
)  # fmt: skip
"""Pages that are said in other languages; the others are English throughout."""
_TEMPLATES = Path(__file__).resolve().parent / "templates"
_WHOLE = 10
"""From here on estimated counts are printed as whole numbers."""
_COARSE = {
    "fewer_than": Phrase("fewer than {limit}", limit=NONE),
    "below": Phrase("below {limit}", limit=NONE),
    "above": Phrase("above {limit}", limit=NONE),
    "about": Phrase("about {limit}", limit=NONE),
    "at_most": Phrase("at most {limit}", limit=NONE),
    "more_than": Phrase("more than {limit}", limit=NONE),
}


def interval(low: float | None, high: float | None, show: Callable[[float], str] = percent) -> str:
    """Both ends of an interval; an empty text where there is none or it is a single point."""
    if low is None or high is None or low >= high:
        return ""
    return Phrase("{low} to {high}", low=show(low), high=show(high))


def measured(measure: Measure, share: bool) -> str:
    """A measure, with its interval and estimator when it is an estimate."""
    show = percent if share else number
    ends = interval(measure.low, measure.high, show)
    if measure.estimator is None or not ends:
        return show(measure.value)
    by = {"value": show(measure.value), "interval": ends, "estimator": measure.estimator}
    return Phrase("{value} ({interval}, {estimator})", **by)


def position(where: Position | None) -> str:
    """The class and the row that an extreme comes from, in words."""
    if where is None:
        return ""
    place = {"number": count(where.equivalence_class), "row": count(where.row)}
    return Phrase("class {number}, row {row}", **place)


def quoted(name: str) -> Phrase:
    """A name of a column in quotation marks."""
    return Phrase("“{column}”", column=name)


def printed(value: Any, scale: str) -> str:
    """A number as an audience is told it, with its interval where it is an estimate.

    Parameters
    ----------
    value
        A number, an object with one coarse number such as ``{"at_most": 0.2}``, or an object with
        a value and the ends of its interval.
    scale
        ``count``, ``share`` or ``number``.
    """
    if value is None:
        return NONE
    if not isinstance(value, dict):
        return _on_scale(value, scale)
    for key, words in _COARSE.items():
        if key in value:
            return Phrase(words.message, limit=_on_scale(value[key], scale, coarse=True))
    shown, low, high = printed(value.get("value"), scale), value.get("low"), value.get("high")
    if None in (low, high) or low == high:
        return shown
    ends = ends_of(value, scale)
    # Ends that are not told are no reason to take an estimate for a count.
    beside = [*filter(None, (ends, value.get("estimator")))] if ends else [Phrase("estimate")]
    return Phrase("{value} ({beside})", value=shown, beside=Listed(beside))


def at_most(chance: Any) -> str:
    """A largest chance as it stands in a sentence; a coarse one brings its own words."""
    exact = isinstance(chance, (int, float)) or (isinstance(chance, dict) and "value" in chance)
    told = printed(chance, SHARE)
    return Phrase("at most {limit}", limit=told) if exact else told


def plain_number(told: Any) -> float | None:
    """The number in what an audience is told, exact or coarse; ``None`` where there is none."""
    if not isinstance(told, dict):
        return None if told is None else float(told)
    keys = ("value", *_COARSE)
    return plain_number(next((told[key] for key in keys if key in told), None))


def height(told: Any) -> tuple[float, int]:
    """How high a number is that is told: what is more than a bound stands above it."""
    value, keys = plain_number(told), told.keys() if isinstance(told, dict) else ()
    beyond = ("more_than" in keys or "above" in keys) - ("fewer_than" in keys or "below" in keys)
    return -1.0 if value is None else value, beyond


def is_small(told: Any) -> bool:
    """Whether an audience is told no more of a number than that it is small."""
    return isinstance(told, dict) and "fewer_than" in told


def some(told: Any, one: Literal["person", "record"]) -> str:
    """A number of records or people: ``1 record``, ``fewer than 10 records``."""
    number, shown = 1 if told == 1 else 2, printed(told, COUNT)
    if one == "person":
        return Plural("{n} person", "{n} people", number, n=shown)
    return Plural("{n} record", "{n} records", number, n=shown)


def ends_of(value: dict[str, Any], scale: str) -> str:
    """The interval of an estimate, exact or coarse; empty where there is none, or a bound alone."""
    ends = value.get("low"), value.get("high")
    # An end that is only bounded ("fewer than 10") makes no interval.
    bounded = any(isinstance(end, dict) and "about" not in end for end in ends)
    if bounded or None in ends or ends[0] == ends[1]:
        return ""
    low, high = (
        _on_scale(end["about"], scale, coarse=True)
        if isinstance(end, dict)
        else _on_scale(end or 0.0, scale)
        for end in ends
    )
    return Phrase("{low} to {high}", low=low, high=high)


def _on_scale(value: float, scale: str, *, coarse: bool = False) -> str:
    if scale == COUNT:
        return count(round(value, 1) if value < _WHOLE else round(value))
    if scale == SHARE:
        # A coarse number must not look more exact than it is.
        return percent(value, 0) if coarse else percent(value)
    return number(value)


def sentence(note: str) -> str:
    """A note as a sentence of its own, in the language that is spoken."""
    note = spoken(note)
    return f"{note[:1].upper()}{note[1:].rstrip('.')}."


def fill_template(
    name: str, filters: dict[str, Callable[..., object]] | None = None, **content: Any
) -> str:
    """A page as HTML in the language that is spoken; every text that is filled in is escaped."""
    # As a tuple, which the cache can keep by.
    template = _template(name, tuple((filters or {}).items()))
    with speaking(language() if name in TRANSLATED else ENGLISH):
        own = {"language": language(), "unread": language() in UNREAD}
        filled: str = template.render(version=version("sfumato"), **own, **content)
    return filled


def _filled(message: str, /, **places: object) -> str:
    """A message of a template in the language that is spoken, with what stands in its places."""
    return _marked(gettext(message), places)


def _filled_plural(one: str, several: str, /, num: int, **places: object) -> str:
    return _marked(ngettext(one, several, num), places)


def _marked(message: str, places: Mapping[str, object]) -> str:
    # Messages are ours and may hold markup; what is filled in is escaped.
    from markupsafe import Markup

    return Markup(message) % {name: spoken(each) for name, each in places.items()}  # noqa: S704


@cache
def _template(name: str, filters: tuple[tuple[str, Callable[..., object]], ...]) -> Any:
    """A template of this package, compiled once a process."""
    # Importing this module needs no extra: JSON alone is written without a template.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        # Names of columns come from files, and may hold markup.
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        # A name that is missing is an error, and no gap in a report that somebody signs.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
        finalize=spoken,
    )
    environment.filters |= {
        "count": count,
        "number": number,
        "percent": percent,
        "position": position,
        "printed": printed,
        "begin": lambda text: Sentence("{begin}", begin=text),
        "sentence": sentence,
        "join": lambda several, between="": joined(between, several),
        "long_date": long_date,
        **dict(filters),
    }
    environment.globals |= {
        "ESTIMATED": ESTIMATED,
        "MANY_COLUMNS": MANY_COLUMNS,
        "_": _filled,
        "gettext": _filled,
        "ngettext": _filled_plural,
    }
    environment.newstyle_gettext = True  # type: ignore[attr-defined]  # of its extension
    return environment.get_template(name)
