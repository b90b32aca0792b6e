"""Clerical review as a web application: managers open queues, workers decide."""
