"""A review at a terminal: the journal of one worker, and screens as lines of styled text."""
