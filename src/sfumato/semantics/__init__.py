"""Policies, rules and their reasoner, associations, the ledger of releases on request."""
