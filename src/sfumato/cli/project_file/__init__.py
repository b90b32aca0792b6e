"""The commands of a project file: init, run, status."""
