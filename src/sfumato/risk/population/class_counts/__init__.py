"""How many classes the population has, from how often classes of each size are sampled."""
