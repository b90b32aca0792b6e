"""Options of the commands under ``sfumato link``, by theme."""
