"""Kartal and Li 2020, JAIS 21(6), 1461-1485 (paper 003): worked example and Table 7 again."""
