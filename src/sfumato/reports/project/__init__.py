"""The report of a project, for whoever signs it and for whoever may read it."""

from sfumato.reports.project.discretion import Audience
from sfumato.reports.project.results import ProjectResults, StageFound

__all__ = ["Audience", "ProjectResults", "StageFound"]
