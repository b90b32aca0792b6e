"""The report on an attack: what was found, beside what was predicted."""
