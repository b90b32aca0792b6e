"""What is held in memory of each project, and the one transaction that opens a cell."""
