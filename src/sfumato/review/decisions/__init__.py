"""What workers answer about pairs, how far they agree, and how often they are right."""
