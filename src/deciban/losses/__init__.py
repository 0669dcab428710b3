"""The loss of logistic regression: over rows in memory, in standard columns, or where the rows lie."""
