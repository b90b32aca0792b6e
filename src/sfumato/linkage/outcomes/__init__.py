"""Match, possible match or non-match: thresholds on the score, and what they cost."""
