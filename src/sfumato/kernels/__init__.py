"""Hot loops on typed arrays, each with a readable twin."""
