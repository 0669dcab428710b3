"""Values as bytes and back: what model files and checkpoints are made of."""
