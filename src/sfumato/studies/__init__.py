"""The tables of papers again, beside the numbers that they print."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sfumato.studies.kartal_li.whole import kartal_li_2020
from sfumato.studies.study import Study

STUDIES: Mapping[str, Callable[..., Study]] = MappingProxyType({"kartal-li-2020": kartal_li_2020})
"""Each study by its name: a function of the data folder (or ``None``) and ``progress``."""

__all__ = ["STUDIES", "Study", "kartal_li_2020"]
