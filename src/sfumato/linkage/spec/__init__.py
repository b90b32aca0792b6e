"""What is linked, and how: compared columns, blocking rules, thresholds."""
