"""The report that a privacy officer signs: HTML and JSON; draws numbers, computes none."""

from sfumato.reports.report_files import report, report_json
from sfumato.reports.report_targets import check_report_path

__all__ = ["check_report_path", "report", "report_json"]
