"""The commands of the web application."""
