"""Normal densities: independent columns, joint, with missing cells, along discriminant axes."""
