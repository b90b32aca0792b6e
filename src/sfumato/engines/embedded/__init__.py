"""The engine for one machine: NumPy and compiled loops in this process."""
