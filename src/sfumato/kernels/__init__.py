"""Hot loops on typed arrays: a compiled extension in Cython, a typed wrapper for each group."""
