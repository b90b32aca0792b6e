"""What a sample tells of the population behind it (paper 004).

`population_estimates` goes from a file to its `population_risk`. λ is estimated in
`accumulation_estimator`, by the curve of `class_accumulation` and the model of `cell_model` with
its trees in `cell_tree`, or within strata of weights in `sampling_weights`; what estimators take
and give is in `estimator_protocol`.
"""
