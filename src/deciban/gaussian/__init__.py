"""Normal densities of rows: columns by themselves, all together, with cells missing, along axes that part classes."""
