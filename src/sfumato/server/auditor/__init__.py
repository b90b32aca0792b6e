"""The pages of an auditor."""
