"""What a project file says: its sections, read, checked and written."""
