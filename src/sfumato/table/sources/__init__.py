"""Files and dataframes of any kind, read batch by batch."""
