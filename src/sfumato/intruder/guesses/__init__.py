"""What the intruder guesses from the file and from what is known; `attacks` judges it."""
