"""Rules over policies, requests and tuples, and the reasoner that works them out."""
