"""Release a file: partition persons under constraints, generalise, measure the loss."""
