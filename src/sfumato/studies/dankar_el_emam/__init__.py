"""The study of Dankar and El Emam 2010 (paper 004): estimators of marketer risk compared."""
