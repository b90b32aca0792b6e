"""The linked file with its quasi-identifiers at the levels that were found."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.hierarchies import ROOT, Anything, Exact, Hierarchy, format_released
from sfumato.hierarchies.hierarchy import all_labels, generalised
from sfumato.release.assembly import person_pseudonyms
from sfumato.schema import Kind
from sfumato.semantics.linkage_anonymity.linked import Linked
from sfumato.table.sources import from_numpy, from_texts


def released_table(
    linked: Linked,
    levels: npt.NDArray[np.integer],
    rng: np.random.Generator,
    *,
    keep_order: bool = False,
    pseudonym_key: bytes | None = None,
) -> pa.Table:
    """The linked file as it is released, in the columns' order.

    Direct identifiers and households are left out, person ids become pseudonyms, records are
    shuffled; sensitive and insensitive columns are unchanged.

    Parameters
    ----------
    linked
        The linked tuples.
    levels
        Level of each value, shape (tuples, QIs).
    rng
        Source of randomness.
    keep_order
        Keep the order of the records instead of shuffling them.
    pseudonym_key
        A secret for keyed pseudonyms, the same in every release.

    Raises
    ------
    InputError
        If the key is too short.
    """
    table = linked.table
    order = np.arange(table.records) if keep_order else rng.permutation(table.records)
    pseudonyms = person_pseudonyms(table, pseudonym_key, rng)
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for name in table.columns:
        if name in table.schema.withheld():
            continue
        if name in linked.quasi_identifiers:
            place = linked.quasi_identifiers.index(name)
            cells = generalised(linked.hierarchies[place], linked.codes[:, place], levels[:, place])
            kind = table.quasi_identifiers[place].kind
            shown = cells[linked.tuple_of[order]]
            columns[name] = _printed(linked.hierarchies[place], shown, kind)
        elif name == table.schema.person and pseudonyms is not None:
            columns[name] = pa.DictionaryArray.from_arrays(
                from_numpy(table.person[order]), pseudonyms
            )
        else:
            columns[name] = table.source.column(name).take(from_numpy(order))
    return pa.table(columns)


def shown_labels(
    linked: Linked, levels: npt.NDArray[np.integer]
) -> dict[str, npt.NDArray[np.object_]]:
    """The label that each distinct tuple shows, by quasi-identifier; ``None`` for missing.

    Parameters
    ----------
    linked
        The linked tuples.
    levels
        Level of each value, shape (tuples, QIs).
    """
    shown = {}
    for place, (name, hierarchy) in enumerate(
        zip(linked.quasi_identifiers, linked.hierarchies, strict=True)
    ):
        labels = np.array([*all_labels(hierarchy), None], dtype=object)
        shown[name] = labels[generalised(hierarchy, linked.codes[:, place], levels[:, place])]
    return shown


def _printed(hierarchy: Hierarchy, cells: npt.NDArray[np.int32], kind: Kind) -> pa.DictionaryArray:
    """Cells of labels; the dictionary holds no label that is not released."""
    used, place = np.unique(cells, return_inverse=True)
    texts = all_labels(hierarchy)
    known = {label for labels in hierarchy.labels[1:] for label in labels}
    if kind is not Kind.NUMERIC:
        known.update(hierarchy.leaves)
    printed = [
        format_released(Anything() if texts[each] == ROOT else Exact(texts[each]), kind, known)
        for each in used.tolist()
        if each >= 0
    ]
    empty = cells < 0
    first = int(len(used) > 0 and used[0] < 0)
    indices = from_numpy((place - first).astype(np.int32), empty)
    return pa.DictionaryArray.from_arrays(
        indices, from_texts(text for text in printed if text is not None).cast(pa.string())
    )
