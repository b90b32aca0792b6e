"""The pages of a manager."""
