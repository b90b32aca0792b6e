"""The populations that samples are drawn from."""
