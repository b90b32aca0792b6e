"""Linkage k-anonymity: linked tuples that enough individuals of the local data match."""

from sfumato.semantics.linkage_anonymity.compare import Comparison, compare_with_classic
from sfumato.semantics.linkage_anonymity.informed import informed_matches, informed_risk
from sfumato.semantics.linkage_anonymity.link_up import link_up
from sfumato.semantics.linkage_anonymity.linked import Linked
from sfumato.semantics.linkage_anonymity.local import Local
from sfumato.semantics.linkage_anonymity.loss import certainty_penalties, squared_errors
from sfumato.semantics.linkage_anonymity.matches import matches
from sfumato.semantics.linkage_anonymity.measured import Measured, mean_risk, measured
from sfumato.semantics.linkage_anonymity.released import released_table, shown_labels
from sfumato.semantics.linkage_anonymity.result import LinkageRelease
from sfumato.semantics.linkage_anonymity.search import least_levels
from sfumato.semantics.linkage_anonymity.spec import LinkageAnonymity, release_linked

__all__ = [
    "Comparison",
    "LinkageAnonymity",
    "LinkageRelease",
    "Linked",
    "Local",
    "Measured",
    "certainty_penalties",
    "compare_with_classic",
    "informed_matches",
    "informed_risk",
    "least_levels",
    "link_up",
    "matches",
    "mean_risk",
    "measured",
    "release_linked",
    "released_table",
    "shown_labels",
    "squared_errors",
]
