"""The k-anonymized privacy risk of what is disclosed (001, Section 4), exact and in units."""
