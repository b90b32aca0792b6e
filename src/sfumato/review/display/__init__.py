"""What a pair shows of its values in each mode."""
