"""The estimators that give each class of the sample its E[1/F]."""
