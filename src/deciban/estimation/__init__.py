"""What families share: smoothing, cuts, linear scores, leaving rows out of sums."""
