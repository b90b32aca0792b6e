"""The numbers that Kartal and Li 2020 (paper 003) print."""
