"""Associations as plain values, for the ledger and for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations.association import Association, Item, State


def to_dict(association: Association, hierarchies: Mapping[str, Hierarchy]) -> dict[str, Any]:
    """Plain values of an association; values by their labels, not by their place.

    Parameters
    ----------
    association
        The association.
    hierarchies
        The hierarchy of each attribute by its name.
    """
    return {
        "antecedent": [_plain(item, hierarchies) for item in association.antecedent],
        "consequent": _plain(association.consequent, hierarchies),
        "support": association.support,
        "confidence": association.confidence,
        "state": association.state.value,
        "note": association.note,
    }


def from_dict(values: Mapping[str, Any], hierarchies: Mapping[str, Hierarchy]) -> Association:
    """The association that `to_dict` was given.

    Parameters
    ----------
    values
        What `to_dict` gave.
    hierarchies
        The hierarchy of each attribute by its name; a label may stand at another place than
        when the values were made.

    Raises
    ------
    InputError
        If the values are not those of an association, or name what the hierarchies lack.
    """
    try:
        antecedent = tuple(_item(one, hierarchies) for one in values["antecedent"])
        consequent = _item(values["consequent"], hierarchies)
        support, confidence = float(values["support"]), float(values["confidence"])
        state, note = State(values["state"]), str(values["note"])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise InputError(
            "an association's values",
            "must be those of an association, in terms of the hierarchies given",
            accepted="antecedent, consequent, support, confidence, state and note",
            advice="check that the code lists still hold the attribute, the level and the label",
        ) from None
    return Association(antecedent, consequent, support, confidence, state, note)


def _plain(item: Item, hierarchies: Mapping[str, Hierarchy]) -> dict[str, Any]:
    label = hierarchies[item.attribute].label(item.level, item.label)
    return {"attribute": item.attribute, "level": item.level, "label": label}


def _item(values: Mapping[str, Any], hierarchies: Mapping[str, Hierarchy]) -> Item:
    attribute, level = str(values["attribute"]), int(values["level"])
    if level < 0:
        raise IndexError
    return Item(attribute, level, hierarchies[attribute].labels[level].index(values["label"]))
