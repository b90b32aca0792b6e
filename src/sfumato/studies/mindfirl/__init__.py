"""Li, D'Souza, Schmit and Kum 2019, arXiv:1906.03345 (paper 001): the example, and a leak."""
