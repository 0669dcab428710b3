"""How values are stored: arrays in a safetensors file, all else as JSON, classes by name from one registry.

`model_file` writes and reads whole models with it, `checkpoint` the sum that a pass over files has reached.
"""
