"""A pair and its worker's standing as a page may show them; the same for one person and many."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from sfumato.core.phrases import Figure, Phrase
from sfumato.review.review_settings import RenderedPair
from sfumato.review.worker_state import Cost, Opening, Refusal


@dataclass(frozen=True)
class PairView:
    """A pair on a worker's page; of its values it holds what was paid for, and nothing else.

    Attributes
    ----------
    token
        What requests name it by.
    place
        Its place in the worker's pile, from 1.
    rendered
        What it shows, ``None`` where it may not be shown.
    refused
        Why it may not be shown.
    hint
        What to open next, where hints are given and the pair is not decided.
    answer
        The decision, 0 where there is none.
    in_cluster
        Which pair of its cluster it is, from 1, and of how many; ``None`` where it is in none.
    follows
        Whether its answer follows from those to other pairs of its cluster.
    """

    token: str
    place: int
    rendered: RenderedPair | None
    costs: tuple[Cost, ...]
    refused: Refusal | None
    hint: Opening | None
    answer: int
    skipped: bool
    flagged: bool
    note: str = ""
    in_cluster: tuple[int, int] | None = None
    follows: bool = False


@dataclass(frozen=True)
class Standing:
    """How a worker stands.

    Attributes
    ----------
    score
        KAPR spent in this project.
    elsewhere
        KAPR spent in other projects of the same source.
    budget
        KAPR that may be spent of the source, ``None`` for no limit.
    left
        KAPR that is left, ``None`` for no limit.
    characters
        Share of the characters of the task that were opened.
    cells
        Rows times attributes of the task, which one cell's cost is a share of.
    """

    score: float
    elsewhere: float
    budget: float | None
    left: float | None
    characters: float
    cells: int
    pairs: int
    decided: int
    skipped: int
    flagged: int

    @property
    def spent(self) -> float:
        """KAPR spent of the source, in all projects."""
        # Over all projects: the same people stand behind them.
        return self.score + self.elsewhere

    def price(self, cost: float) -> str:
        """A cost in words; ``""`` where no limit is there that it could be a share of."""
        if not cost or self.left is None:
            return "" if cost else Phrase("nothing")
        if cost > self.left:
            return Phrase("more than is left")
        share = Figure(f"{ceil(100 * cost / self.left)} %")
        # Cheap: what is left pays for one like it in each pair that is still to come.
        if cost * max(1, self.pairs - self.decided) <= self.left:
            return Phrase("cheap, up to {share} of what is left", share=share)
        return Phrase("dear, up to {share} of what is left", share=share)
