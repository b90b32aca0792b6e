"""Who asks for a release, under which policy: each option declared once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from sfumato.core.declaration import Parameter, Place, Share, check_fields, places_by_name

# At 0 every combination of values would be proposed to the custodian.
SHARE = Share(zero=False, one=True)


@dataclass(frozen=True)
class RequestOptions:
    """What a release on request rests on, beside the linked data and its schema."""

    policy: Annotated[
        Path | None,
        Parameter(
            "Release what this policy's rules allow for --request, instead of promises.",
            "FILE",
            flag="file",
            option="--policy",
        ),
    ] = None
    request: Annotated[str | None, Parameter("The policy's request that is answered.", "NAME")] = (
        None
    )
    local: Annotated[
        Mapping[str, Place],
        Parameter(
            "The data of a database that readers ask about. Repeatable.",
            "NAME=FILE",
            parse=places_by_name,
        ),
    ] = field(default_factory=dict)
    rules: Annotated[
        tuple[Path, ...],
        Parameter(
            "A file with more rules, beside those that the policy names. Repeatable.",
            "FILE",
            option="--site-rules --rules",
        ),
    ] = ()
    association_support: Annotated[
        float,
        Parameter(
            "Least share of people with its condition for an association to be proposed.",
            "SHARE",
            SHARE,
        ),
    ] = 0.01
    association_confidence: Annotated[
        float, Parameter("Least share of these with its conclusion, too.", "SHARE", SHARE)
    ] = 0.9

    # Off unless asked for: it costs 22 to 29 % more loss
    # in the measurement of docs/EVIDENCE.md.
    informed: Annotated[
        bool,
        Parameter(
            "Count towards k only people of the local data whom the method would have released "
            "with the same tuple. k then holds before a reader who knows the method, at more loss.",
            option="--informed-reader",
        ),
    ] = False

    def __post_init__(self) -> None:
        check_fields(self)
