"""Which cell to open next: what it could tell about the pair, per unit of its cost."""
