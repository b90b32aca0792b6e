"""The tables of papers again, beside the numbers that they print."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from studies.dankar_el_emam import dankar_elemam_2010
from studies.kartal_li import kartal_li_2020
from studies.lu_sinnott_verspoor import lu_sinnott_verspoor_2017
from studies.mindfirl import mindfirl_2019
from studies.study_document import Study

STUDIES: Mapping[str, Callable[..., Study]] = MappingProxyType(
    {
        "kartal-li-2020": kartal_li_2020,
        "dankar-elemam-2010": dankar_elemam_2010,
        "mindfirl-2019": mindfirl_2019,
        "lu-sinnott-verspoor-2017": lu_sinnott_verspoor_2017,
    }
)
"""Each study by its name: a function of the data folder (or ``None``) and ``progress``."""
DRAWN = frozenset({"dankar-elemam-2010", "lu-sinnott-verspoor-2017"})
"""The studies that draw samples; they also take ``repetitions`` and ``seed``."""

__all__ = [
    "DRAWN",
    "STUDIES",
    "Study",
    "dankar_elemam_2010",
    "kartal_li_2020",
    "lu_sinnott_verspoor_2017",
    "mindfirl_2019",
]
