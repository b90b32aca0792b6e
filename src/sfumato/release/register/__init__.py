"""The persons of a population register in the arrays that the tree reads."""
