"""What families share: smoothing, discretisation, linear scores, leave-one-out sums."""
