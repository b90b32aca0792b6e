"""The stages of a project, in their order."""

from __future__ import annotations

from sfumato.core.errors import InputError
from sfumato.pipeline.stages import (
    assess,
    attack,
    link,
    linked,
    release,
    report,
)
from sfumato.pipeline.stages.place import Place
from sfumato.pipeline.stages.stage import Stage
from sfumato.review.extra import needs_review


def stages_of(place: Place) -> tuple[Stage, ...]:
    """The stages that a project has, each after those that it rests on.

    Parameters
    ----------
    place
        The project.

    Raises
    ------
    InputError
        If people review, and the extra for it is not installed.
    """
    project = place.project
    stages = []
    if project.is_linked:
        stages.append(link.STAGE)
        if project.is_reviewed:
            needs_review()
            from sfumato.pipeline.stages import review  # needs an extra

            stages.append(review.STAGE)
        stages.append(linked.STAGE)
    stages.append(assess.STAGE)
    if project.policy is None:
        stages.append(release.STAGE)
    else:
        from sfumato.pipeline.stages import on_request  # costs a start's time

        stages.append(on_request.STAGE)
    if project.attack is not None:
        stages.append(attack.STAGE)
    return (*stages, report.STAGE)


def check_stage(place: Place, name: str, option: str) -> None:
    """Refuse a name that no stage of the project has.

    Parameters
    ----------
    place
        The project.
    name
        The name.
    option
        Where it was given.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    names = [stage.name for stage in stages_of(place)]
    if name not in names:
        raise InputError(
            option, "must be a stage of this project", found="another name",
            accepted=", ".join(names),
        )  # fmt: skip
