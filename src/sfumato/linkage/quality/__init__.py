"""How good a linkage is: against the truth, by the model alone, and by a sample checked by hand."""
