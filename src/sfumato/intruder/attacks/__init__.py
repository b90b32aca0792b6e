"""The attacks: what the intruder guesses from the file and from what is known."""
