"""The page of a project's report, drawn of its plain values: the tables of a release's page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from sfumato.core.phrases import Figure, Listed, Phrase
from sfumato.reports import project_results, project_risk
from sfumato.reports.attack_tables import attack_lines
from sfumato.reports.audience import Audience
from sfumato.reports.printed_numbers import NUMBER, SHARE, fill_template, printed
from sfumato.reports.release_summary import practice_table
from sfumato.reports.risk_tables import MeasureCell, MeasureGroup, MeasureLine

if TYPE_CHECKING:
    from sfumato.reports import pictures


def draw_version(
    template: str,
    content: Mapping[str, Any],
    filters: dict[str, Callable[..., object]] | None = None,
    **more: Any,
) -> str:
    """A page about a project, of one version of its content."""
    about = content["report"]
    return fill_template(
        template,
        filters,
        c=content,
        title=about["title"],
        public=about["audience"] == Audience.PUBLIC,
        made=date.fromisoformat(about["date"]),
        **more,
    )


def draw_project(content: Mapping[str, Any]) -> str:
    """The report, self-contained and printable.

    Parameters
    ----------
    content
        What `project_content` gives.
    """
    public = content["report"]["audience"] == Audience.PUBLIC
    request, attack = content["request"], content["attack"]
    attacks, untried = attack_lines(attack["outcomes"] if attack else (), most=1)
    return draw_version(
        "project.html",
        content,
        {"limit": project_risk.limit_words, "kapr": _kapr_words},
        figures=_figures(content, public),
        gaps=project_risk.GAPS,
        files=(Phrase("Original"),) if request else (Phrase("Original"), Phrase("Release")),
        variables=project_results.alike(content["variables"]),
        risk=_printed(content["risk"], "title", bool(request)),
        sensitive=_printed(content["sensitive"], "attribute", bool(request)),
        practice=practice_table(
            (
                one["measure"],
                printed(one["value"], one["scale"]),
                one["source"],
                printed(one["limit"], one["scale"]),
                one["met"],
            )
            for each in content["practice"]
            for one in each["held"]
        ),
        attacks=attacks,
        untried=untried,
    )


def _printed(
    groups: Sequence[Mapping[str, Any]], title: str, before_alone: bool
) -> list[MeasureGroup]:
    """Measures as the tables of a release have them."""
    ends = ("before",) if before_alone else ("before", "after")
    return [
        MeasureGroup(
            group[title],
            "",
            tuple(
                MeasureLine(
                    line["name"],
                    Listed((line["means"], printed(line["above"], SHARE)), " ")
                    if line.get("above") is not None
                    else line["means"],
                    tuple(
                        MeasureCell(
                            printed(line[end], line["scale"])
                            if line["measured"]
                            else Phrase("not measured")
                        )
                        for end in ends
                    ),
                )
                for line in group["lines"]
            ),
        )
        for group in groups
    ]


def _figures(content: Mapping[str, Any], public: bool) -> dict[str, pictures.Figure | None]:
    from sfumato.reports.attack_report import success_figure
    from sfumato.reports.loss_plots import column_loss_figure
    from sfumato.reports.risk_plots import before_after_figure

    attack = content["attack"]
    loss = column_loss_figure(content["changes"]["columns"])
    # The pictures of risk and attacks are drawn of exact numbers.
    if public:
        return {"risk": None, "loss": loss, "attack": None}
    return {
        "risk": before_after_figure(content),
        "loss": loss,
        "attack": None if attack is None else success_figure(attack["outcomes"]),
    }


def _kapr_words(value: Any) -> str:
    return Figure(f"{value:.5f}") if isinstance(value, float) else printed(value, NUMBER)
