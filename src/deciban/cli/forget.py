"""`deciban forget`: rows taken out of a model."""

from __future__ import annotations

from typing import Any

from deciban.cli.options import Terminal, cli_command
from deciban.cli.update import change_options, modify_model


@cli_command("forget", example="deciban forget u.deciban more.csv")
@change_options
def command(talk: Terminal, **asked: Any) -> None:
    """Remove rows from a model: it equals one never trained on them.

    The model must be one that can change: `deciban fit --updatable`. The file is replaced when all is done.
    """
    modify_model(talk, forget=True, **asked)
