"""The project file, what it runs and what that found; how promises are tuned."""
