"""Full-domain recoding: one level of each hierarchy for all records."""

from sfumato.release.full_domain.choose import Recoded, recode, shown_at
from sfumato.release.full_domain.proposals import with_hierarchies
from sfumato.release.full_domain.result import ColumnLevel, Levels

__all__ = ["ColumnLevel", "Levels", "Recoded", "recode", "shown_at", "with_hierarchies"]
