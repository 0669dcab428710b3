"""`deciban update`: more rows for a model."""

from __future__ import annotations

from typing import Any

from deciban.cli.changing import change_options, changed
from deciban.cli.verb import Talk, verb


@verb("update", example="deciban update u.deciban more.csv")
@change_options
def command(talk: Talk, **asked: Any) -> None:
    """Learn the rows of DATA too: the same model as one fit to all rows. New classes and levels may come.

    The model must be one that can change: `deciban fit --updatable`. The file is replaced when all is done.
    """
    changed(talk, forget=False, **asked)
