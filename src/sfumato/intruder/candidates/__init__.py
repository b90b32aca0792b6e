"""Which register persons fit which released class."""

from sfumato.intruder.candidates.blocks import Blocks, blocks_of
from sfumato.intruder.candidates.candidates import Candidates
from sfumato.intruder.candidates.find import find_candidates, persons_are_whole

__all__ = ["Blocks", "Candidates", "blocks_of", "find_candidates", "persons_are_whole"]
