"""The plots of the study; they need the extra ``report``."""
