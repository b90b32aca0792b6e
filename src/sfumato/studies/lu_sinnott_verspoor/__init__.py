"""Paper 002: linkage k-anonymity and its semantic scheme, on simulated patients."""
