"""A project file for somebody's tables, proposed for a person to read and edit."""
