"""Options of ``sfumato attack``, by what they are about."""
