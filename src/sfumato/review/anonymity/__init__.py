"""Anonymity sets: which records of the database agree with what is seen of one."""
