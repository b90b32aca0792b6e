"""A release against the population that its persons come from: a register, or its size."""
