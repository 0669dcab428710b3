"""User input as rows: input checks, readers, labels, schemas, samples, folds and predictions."""
