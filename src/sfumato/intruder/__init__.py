"""The simulated intruder: attacks a released file with no more than an intruder could hold."""
