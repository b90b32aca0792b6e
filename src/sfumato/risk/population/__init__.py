"""What a sample tells of the population behind it (paper 004)."""
