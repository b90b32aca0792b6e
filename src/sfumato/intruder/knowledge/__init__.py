"""What the intruder holds about a population."""

from sfumato.intruder.knowledge.hold import hold
from sfumato.intruder.knowledge.knowledge import Knowledge, KnownColumn
from sfumato.intruder.knowledge.noise import with_noise

__all__ = ["Knowledge", "KnownColumn", "hold", "with_noise"]
