"""`deciban update`: more rows for a model."""

from __future__ import annotations

from typing import Any

from deciban.cli.changing import change_options, changed
from deciban.cli.verb import Talk, verb


@verb("update", example="deciban update u.deciban more.csv")
@change_options
def command(talk: Talk, **asked: Any) -> None:
    """Add rows to a model: it equals one fitted to all rows.

    New classes and levels may come.

    The model must be one that can change: `deciban fit --updatable`. The file is replaced when all is done.
    """
    changed(talk, forget=False, **asked)
