"""The report of a project as one HTML page, drawn from its plain values alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from sfumato.reports.linkage.environment import environment
from sfumato.reports.plots.picture import Figure
from sfumato.reports.project.discretion import Audience
from sfumato.reports.project.plots import attack_figure, loss_figure, risk_figure
from sfumato.reports.project.promises import limit_of
from sfumato.reports.project.text import NUMBER, SHARE, told


def draw_project(content: Mapping[str, Any]) -> str:
    """The report, self-contained and printable.

    Parameters
    ----------
    content
        What `project_content` gives.
    """
    public = content["report"]["audience"] == Audience.PUBLIC
    made = environment()
    filters: dict[str, Callable[..., object]] = {
        "told": told,
        "limit": limit_of,
        "kapr": _kapr,
        "realised": _realised,
        "alone": _alone,
    }
    made.filters |= filters
    return made.get_template("project.html").render(
        c=content,
        public=public,
        made=date.fromisoformat(content["report"]["date"]),
        contents=_contents(content, public),
        figures=_figures(content, public),
    )


def _figures(content: Mapping[str, Any], public: bool) -> dict[str, Figure | None]:
    attack = content["attack"]
    return {
        "risk": None if public else risk_figure(content),
        "loss": loss_figure(content["changes"]["columns"]),
        "attack": None if public or attack is None else attack_figure(attack["outcomes"]),
    }


def _contents(content: Mapping[str, Any], public: bool) -> list[tuple[str, str]]:
    linked = content["linkage"] is not None
    parts = [
        ("context", "Release context", True),
        ("variables", "Every variable, and what was done with it", True),
        ("sources", f"Sources{' and quality of the linkage' if linked else ''}", True),
        ("review", "Disclosure during review", content["review"] is not None),
        ("adversaries", "Adversaries and plausible attacks", True),
        ("thresholds", "Promises and thresholds", True),
        ("risk", "Initial and residual risk", True),
        (
            "sensitive",
            "Attribute and membership disclosure",
            bool(content["sensitive"] or content["membership"]),
        ),
        ("changes", "What was changed, and what that costs", True),
        ("attack", "What a simulated intruder found", True),
        ("limits", "Assumptions and limits", True),
        (
            "manifest",
            "What proves it, and what is left out" if public else "Manifest and warnings",
            True,
        ),
        ("decision", "Decision", True),
    ]
    return [(anchor, title) for anchor, title, there in parts if there]


def _kapr(value: Any) -> str:
    return f"{value:.5f}" if isinstance(value, float) else told(value, NUMBER)


def _alone(value: Any) -> Any:
    """The value of an estimate, without its interval."""
    return value["value"] if isinstance(value, dict) and "value" in value else value


def _realised(value: Any) -> str:
    """A success with its interval, without the name of its estimator."""
    if isinstance(value, dict):
        value = {key: each for key, each in value.items() if key != "estimator"}
    return told(value, SHARE)
