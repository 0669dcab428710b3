"""`deciban forget`: remove rows from a model."""

from __future__ import annotations

from typing import Any

from deciban.cli.options import Terminal, cli_command
from deciban.cli.update import change_options, modify_model


@cli_command("forget", example="deciban forget u.deciban more.csv")
@change_options
def command(talk: Terminal, **asked: Any) -> None:
    """Remove rows from a model. The result equals a model never trained on them.

    The model must be updatable: `deciban fit --updatable`. The file is replaced at the end. Processes that
    change the same file wait for each other.
    """
    modify_model(talk, forget=True, **asked)
