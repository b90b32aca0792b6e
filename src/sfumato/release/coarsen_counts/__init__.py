"""Make numbers of records coarser, class by class, so that enough persons share each."""

from sfumato.release.coarsen_counts.drop import drop_records
from sfumato.release.coarsen_counts.loss import CountLoss, count_loss
from sfumato.release.coarsen_counts.split import split_ids
from sfumato.release.coarsen_counts.way import promised, while_cutting

__all__ = [
    "CountLoss",
    "count_loss",
    "drop_records",
    "promised",
    "split_ids",
    "while_cutting",
]
