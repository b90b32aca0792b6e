"""Policies, rules and their reasoner, associations, the memory of releases."""
