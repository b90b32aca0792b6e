"""The three data sets of Section 6, read from their files as they were published."""
