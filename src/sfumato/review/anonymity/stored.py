"""An index as bytes: a header in JSON, then its arrays one after the other."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import ValidationError

from sfumato.core.errors import InputError
from sfumato.review.anonymity.bitmaps import Bitmaps
from sfumato.review.anonymity.database import Database
from sfumato.review.attributes import Attribute

_MAGIC = b"sfumato index of anonymity sets\n"
VERSION = 1
_ALIGNED = 64
_Arrays = dict[str, npt.NDArray[Any]]


def packed(
    database: Database,
    bitmaps: Bitmaps,
    postings: npt.NDArray[np.uint32],
    posting_start: npt.NDArray[np.int64],
) -> bytes:
    """A database and its index as bytes.

    Parameters
    ----------
    database
        The records.
    bitmaps, postings, posting_start
        The parts of the index.
    """
    arrays: _Arrays = {
        "base": database.base,
        "codes": database.codes,
        "start": database.start,
        "characters": database.characters,
        "folded_count": database.folded_count,
        "begins": database.begins,
        "keys": bitmaps.keys,
        "ends": bitmaps.ends,
        "sizes": bitmaps.sizes,
        "data": bitmaps.data,
        "postings": postings,
        "posting_start": posting_start,
    }
    for place, texts in enumerate(database.texts):
        arrays[f"edges{place}"], arrays[f"texts{place}"] = _text_arrays(texts)
    header = {
        "version": VERSION,
        "attributes": [each.model_dump(mode="json") for each in database.attributes],
        "one_layout": database.one_layout,
        "rare_below": database.rare_below,
        "common_from": database.common_from,
        "arrays": [[name, each.dtype.str, each.shape] for name, each in arrays.items()],
    }
    head = json.dumps(header).encode()
    parts: list[bytes | memoryview] = [_MAGIC, len(head).to_bytes(8, "little"), head]
    length = sum(map(len, parts))
    for each in arrays.values():
        parts += [b"\0" * (-length % _ALIGNED), np.ascontiguousarray(each).data.cast("B")]
        length += -length % _ALIGNED + each.nbytes
    return b"".join(parts)


def unpacked(
    data: bytes,
) -> tuple[Database, Bitmaps, npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """What `packed` made bytes of; the arrays refer to them.

    Parameters
    ----------
    data
        The bytes.

    Raises
    ------
    InputError
        If they are no index, cut short, or of another version.
    """
    header, arrays = _read(data)
    try:
        attributes = tuple(Attribute.model_validate(each) for each in header["attributes"])
    except ValidationError:
        raise _broken("attributes that are not known") from None
    database = Database(
        attributes,
        tuple(
            _texts(arrays[f"edges{place}"], arrays[f"texts{place}"])
            for place in range(len(attributes))
        ),
        arrays["base"],
        arrays["codes"],
        arrays["start"],
        arrays["characters"],
        arrays["folded_count"],
        arrays["begins"],
        tuple(header["one_layout"]),
        header["rare_below"],
        header["common_from"],
    )
    bitmaps = Bitmaps(arrays["keys"], arrays["ends"], arrays["sizes"], arrays["data"])
    return database, bitmaps, arrays["postings"], arrays["posting_start"]


def _read(data: bytes) -> tuple[dict[str, Any], _Arrays]:
    """The header and the arrays."""
    if not data.startswith(_MAGIC):
        raise _broken("something else")
    begin = len(_MAGIC) + 8
    place = begin + int.from_bytes(data[len(_MAGIC) : begin], "little")
    try:
        header = json.loads(data[begin:place])
    except ValueError:
        raise _broken("a header that cannot be read") from None
    if header["version"] != VERSION:
        raise _broken(f"version {header['version']}")
    arrays: _Arrays = {}
    for name, dtype, shape in header["arrays"]:
        place += -place % _ALIGNED
        count = math.prod(shape)
        if place + count * np.dtype(dtype).itemsize > len(data):
            raise _broken("fewer bytes than its header says")
        arrays[name] = np.frombuffer(data, dtype, count, place).reshape(shape)
        place += arrays[name].nbytes
    return header, arrays


def _broken(found: str) -> InputError:
    return InputError(
        "stored index",
        "must be an index of anonymity sets",
        found=found,
        accepted=f"version {VERSION}",
        advice="build it again from the tables",
    )


def _text_arrays(texts: pa.StringArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Where each text starts, and the bytes of all."""
    _, offsets, data = texts.buffers()
    if not len(texts):
        return np.zeros(1, np.int64), np.empty(0, np.uint8)
    edges = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return (
        edges.astype(np.int64) - edges[0],
        np.frombuffer(data, np.uint8)[edges[0] : edges[-1]],
    )


def _texts(edges: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> pa.StringArray:
    return pa.StringArray.from_buffers(
        len(edges) - 1, pa.py_buffer(edges.astype(np.int32)), pa.py_buffer(data)
    )
