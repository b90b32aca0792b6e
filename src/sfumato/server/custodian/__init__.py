"""The pages of a custodian."""
