"""Clerical review as a web application: managers deal work, workers decide."""
