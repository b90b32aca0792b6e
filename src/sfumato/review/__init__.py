"""Clerical review: what a pair may show, what it costs, and a budget that holds."""
