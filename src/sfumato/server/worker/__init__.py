"""The pages of a worker."""
