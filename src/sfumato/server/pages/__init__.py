"""Templates, styles and the one script."""
