"""What a file gives away: equivalence classes, multi-record measures, re-identification."""
