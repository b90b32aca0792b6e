"""The disclosure report of a review, its plots, and accuracy against disclosure."""
