"""Names of comparisons as people read them."""

from __future__ import annotations


def comparison_name(name: str) -> str:
    """A comparison's name without underscores.

    Parameters
    ----------
    name
        Its name in the model.
    """
    return name.replace("_", " ")
