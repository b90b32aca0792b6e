"""The Poisson log-linear estimator with its search for a model (paper 004, Section 2.4.2)."""
