"""Tables 7-18 and the baseline of Section 2, each beside the paper's numbers."""
