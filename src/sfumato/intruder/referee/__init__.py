"""The referee: knows the truth, scores what the intruder guessed, holds it against the claims."""
