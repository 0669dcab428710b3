"""What a logistic model's rows say about its coefficients: errors, intervals, separation, penalties."""
