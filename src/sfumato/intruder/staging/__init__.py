"""Stage each attack: hand the intruder what he may hold, the referee the truth, in one scene."""
