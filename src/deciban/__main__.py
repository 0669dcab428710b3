"""`python -m deciban` is the `deciban` command."""

from deciban.cli import main

main()
