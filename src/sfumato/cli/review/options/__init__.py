"""Options of the commands under ``sfumato review``, by theme."""
