"""A simulated worker: judges renderings by the model's weights and what is known of names."""

from __future__ import annotations

import math

from sfumato.review.hints.belief import probability
from sfumato.review.hints.evidence import Evidence
from sfumato.review.hints.hint import hints
from sfumato.review.hints.reading import Agreement, read
from sfumato.review.simulated.frequencies import Frequencies
from sfumato.review.state.opening import Refusal
from sfumato.review.state.worker import WorkerState
from sfumato.review.values import RenderedPair


class SimulatedWorker:
    """Judges pairs by their renderings; true values that are not disclosed never reach it.

    Parameters
    ----------
    evidence
        What agreement on each attribute says.
    frequencies
        How frequent values are.
    certainty
        It opens cells, the worthiest first, until the probability of its answer is at least
        this, in [0.5, 1]; 0.5 opens nothing.
    """

    def __init__(self, evidence: Evidence, frequencies: Frequencies, certainty: float) -> None:
        self.evidence, self.frequencies, self.certainty = evidence, frequencies, certainty

    def belief(self, rendered: RenderedPair) -> float:
        """Probability that a pair is one person's, by all that its rendering shows.

        Parameters
        ----------
        rendered
            The pair as it is shown.
        """
        odds = math.log(self.evidence.prior / (1 - self.evidence.prior))
        for place, attribute in enumerate(rendered):
            evidence, reading = self.evidence.attributes[place], read(attribute)
            if evidence is None:
                continue
            odds += evidence.log_odds(reading)
            if reading.agreement is not Agreement.SAME:
                continue
            if reading.value is not None:
                odds += self.frequencies.of_value[place].get(reading.value, 0.0)
            elif reading.rarity is not None:
                odds += self.frequencies.of_band[place].get(reading.rarity, 0.0)
        return probability(odds)

    def judge(self, worker: WorkerState, pair: int) -> float | None:
        """Look at a pair, open what is worth it, and say how likely it is one person's.

        ``None`` if the pair may not be shown at all.

        Parameters
        ----------
        worker
            Where it is shown and charged.
        pair
            The pair.

        Raises
        ------
        InputError
            If the pair is not one of this worker's.
        """
        if isinstance(worker.show(pair), Refusal):
            return None
        while True:
            now = self.belief(worker.render(pair))
            if max(now, 1 - now) >= self.certainty:
                return now
            found = hints(worker, pair, self.evidence)
            if not found or isinstance(worker.open(pair, found[0].opening), Refusal):
                return now
