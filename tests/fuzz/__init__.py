"""Programs that call what others might break with random arguments; `tests` run them briefly."""
