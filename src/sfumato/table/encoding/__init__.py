"""From Arrow to integer codes: numbers, dates and labels, exactly."""
