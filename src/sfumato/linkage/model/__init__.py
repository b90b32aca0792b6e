"""Score candidate pairs with Splink: settings, training, prediction, saved models."""
