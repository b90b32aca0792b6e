"""How many persons are alone in their class of the population, by the models of ARX's users."""
