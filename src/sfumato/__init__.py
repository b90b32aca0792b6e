"""sfumato: link data about people, measure what it gives away, release what may be released.

What a notebook needs is here; every name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.errors import ConstraintsNotMetError, InputError, SfumatoError
    from sfumato.core.measure import Measure
    from sfumato.intruder.attack import attack
    from sfumato.intruder.result import Attack
    from sfumato.linkage.encodings.owner.table import encode_table
    from sfumato.linkage.encodings.unit.links import EncodedLinks
    from sfumato.linkage.encodings.unit.matching import Matching
    from sfumato.linkage.link import link
    from sfumato.linkage.links import Links
    from sfumato.linkage.spec.model import LinkSpec
    from sfumato.pipeline.tune import Tuned, tune
    from sfumato.release.anonymize import anonymize
    from sfumato.release.constraints import (
        DeltaPresence,
        GBalance,
        HAffiliation,
        KAnonymity,
        LDiversity,
        MarketerRisk,
        PidKAnonymity,
        SharedCounts,
        TCloseness,
    )
    from sfumato.release.promises import promises
    from sfumato.release.result import Release
    from sfumato.reports import report
    from sfumato.reports.project_results import ProjectResults
    from sfumato.risk.assessment import assess
    from sfumato.risk.disclosure_risk import Risk
    from sfumato.risk.risk_thresholds import Preset, Threshold, thresholds
    from sfumato.risk.threshold_checks import hold
    from sfumato.schema import (
        IntervalHierarchy,
        Kind,
        PrefixHierarchy,
        QuasiIdentifier,
        Schema,
        dump_schema,
        load_schema,
    )
    from sfumato.semantics.linkage_anonymity import LinkageAnonymity, release_linked
    from sfumato.semantics.requested import RequestedRelease, anonymize_requested

_HOMES = {
    "Attack": "intruder.result",
    "ConstraintsNotMetError": "core.errors",
    "DeltaPresence": "release.constraints",
    "EncodedLinks": "linkage.encodings.unit.links",
    "GBalance": "release.constraints",
    "HAffiliation": "release.constraints",
    "InputError": "core.errors",
    "IntervalHierarchy": "schema",
    "KAnonymity": "release.constraints",
    "Kind": "schema",
    "LDiversity": "release.constraints",
    "LinkSpec": "linkage.spec.model",
    "LinkageAnonymity": "semantics.linkage_anonymity",
    "Links": "linkage.links",
    "MarketerRisk": "release.constraints",
    "Matching": "linkage.encodings.unit.matching",
    "Measure": "core.measure",
    "PidKAnonymity": "release.constraints",
    "PrefixHierarchy": "schema",
    "Preset": "risk.risk_thresholds",
    "ProjectResults": "reports.project_results",
    "QuasiIdentifier": "schema",
    "Release": "release.result",
    "RequestedRelease": "semantics.requested",
    "Risk": "risk.disclosure_risk",
    "Schema": "schema",
    "SfumatoError": "core.errors",
    "SharedCounts": "release.constraints",
    "TCloseness": "release.constraints",
    "Threshold": "risk.risk_thresholds",
    "Tuned": "pipeline.tune",
    "anonymize": "release.anonymize",
    "anonymize_requested": "semantics.requested",
    "assess": "risk.assessment",
    "attack": "intruder.attack",
    "dump_schema": "schema",
    "encode_table": "linkage.encodings.owner.table",
    "hold": "risk.threshold_checks",
    "link": "linkage.link",
    "load_schema": "schema",
    "promises": "release.promises",
    "release_linked": "semantics.linkage_anonymity",
    "report": "reports",
    "thresholds": "risk.risk_thresholds",
    "tune": "pipeline.tune",
}

__all__ = [
    "Attack",
    "ConstraintsNotMetError",
    "DeltaPresence",
    "EncodedLinks",
    "GBalance",
    "HAffiliation",
    "InputError",
    "IntervalHierarchy",
    "KAnonymity",
    "Kind",
    "LDiversity",
    "LinkSpec",
    "LinkageAnonymity",
    "Links",
    "MarketerRisk",
    "Matching",
    "Measure",
    "PidKAnonymity",
    "PrefixHierarchy",
    "Preset",
    "ProjectResults",
    "QuasiIdentifier",
    "Release",
    "RequestedRelease",
    "Risk",
    "Schema",
    "SfumatoError",
    "SharedCounts",
    "TCloseness",
    "Threshold",
    "Tuned",
    "anonymize",
    "anonymize_requested",
    "assess",
    "attack",
    "dump_schema",
    "encode_table",
    "hold",
    "link",
    "load_schema",
    "promises",
    "release_linked",
    "report",
    "thresholds",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute '{name}'")
    value = getattr(import_module(f"sfumato.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
