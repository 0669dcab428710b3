"""Cross-validation, comparison and automatic choice of classifiers, learning curves."""
