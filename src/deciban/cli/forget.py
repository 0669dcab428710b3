"""`deciban forget`: rows taken out of a model."""

from __future__ import annotations

from typing import Any

from deciban.cli.changing import change_options, changed
from deciban.cli.verb import Talk, verb


@verb("forget", example="deciban forget u.deciban more.csv")
@change_options
def command(talk: Talk, **asked: Any) -> None:
    """Remove rows from a model: it equals one never trained on them.

    The model must be one that can change: `deciban fit --updatable`. The file is replaced when all is done.
    """
    changed(talk, forget=True, **asked)
