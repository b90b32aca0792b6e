"""The tables of the study, one file each."""
