"""Names and items as terms of the rules, and back."""

from __future__ import annotations

from typing import Any

from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Item


def quoted(text: str) -> str:
    """Text as a string of the rules' language.

    Parameters
    ----------
    text
        The text.
    """
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return f'"{escaped}"'


def item_term(item: Item, hierarchy: Hierarchy) -> str:
    """An item as a term: ``item("language",0,"7104 Mandarin")``.

    Parameters
    ----------
    item
        The item.
    hierarchy
        The hierarchy of its attribute.
    """
    label = quoted(hierarchy.label(item.level, item.label))
    return f"item({quoted(item.attribute)},{item.level},{label})"


def plain(symbol: Any) -> Any:
    """A ground term as a plain value: text, a number, or what the rules' language writes.

    Parameters
    ----------
    symbol
        A symbol of clingo.
    """
    kind = symbol.type.name
    if kind == "String":
        return symbol.string
    return symbol.number if kind == "Number" else str(symbol)
