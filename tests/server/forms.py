"""The forms of a page, as a browser would send them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

FILE = "\x00file"
"""Stands for a file in a form."""


@dataclass
class Form:
    """A form: where it is sent, and what with.

    Attributes
    ----------
    method, action
        How and where it is sent.
    fields
        Names and values; of a file `FILE`.
    """

    method: str
    action: str
    fields: dict[str, str] = field(default_factory=dict)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(Form(given.get("method", "get"), given.get("action", "")))
        if not self.found:
            return
        fields, name = self.found[-1].fields, given.get("name", "")
        if tag == "select":
            self._select = name
        elif (
            tag == "option" and self._select and ("selected" in given or self._select not in fields)
        ):
            fields[self._select] = given.get("value", "")
        elif tag == "textarea" and name:
            fields[name] = ""
        elif tag == "input" and name:
            self._input(fields, name, given)
        elif tag == "button" and name and name not in fields:
            fields[name] = given.get("value", "")

    def _input(self, fields: dict[str, str], name: str, given: dict[str, str]) -> None:
        kind = given.get("type", "text")
        if kind == "file":
            fields[name] = FILE
        elif kind not in ("checkbox", "radio") or "checked" in given or name not in fields:
            fields[name] = given.get("value", "on" if kind == "checkbox" else "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""


def forms_of(text: str) -> list[Form]:
    """The forms of a page."""
    parser = _Forms()
    parser.feed(text)
    return parser.found
