"""Run a project, and say what becomes of each stage while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sfumato.cli.output import progress_bar, say
from sfumato.cli.project_file.told import done_line, warning_lines

if TYPE_CHECKING:
    from sfumato.core.shared_options import Progress
    from sfumato.pipeline.project_folder import ProjectFolder
    from sfumato.pipeline.run import StageState, Status


def run_telling(
    place: ProjectFolder, until: str | None = None, force: tuple[str, ...] = ()
) -> Status:
    """Run a project: a line for each stage, each warning once, a bar while one is made.

    Parameters
    ----------
    place
        The project.
    until, force
        As `sfumato.pipeline.run.run` takes them.

    Raises
    ------
    SfumatoError
        As `sfumato.pipeline.run.run`.
    """
    from sfumato.pipeline.run import run, stages_of

    names = [stage.name for stage in stages_of(place)]
    warned: list[str] = []

    def tell(state: StageState) -> None:
        say(done_line(state, names))
        for line in warning_lines(state):
            if line not in warned:
                warned.append(line)
                say(line)

    return run(place, until=until, force=force, working=_working, tell=tell)


@contextmanager
def _working(name: str) -> Iterator[Progress]:
    """The bar of a stage, under the stage's name."""
    with progress_bar() as progress:
        yield lambda step, share: progress(f"{name}: {step}", share)
