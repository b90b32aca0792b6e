"""What a run keeps: the record of each stage, hashes, and a lock against a second run."""
