"""`deciban families`: list the distributions of a column."""

from __future__ import annotations

from deciban.cli.options import Terminal, cli_command


@cli_command("families", example="deciban families")
def command(talk: Terminal) -> None:
    """List the distributions of a column (`families=` of MixedNB in Python)."""
    import deciban
    from deciban.display import Table

    described = deciban.list_families()
    talk.give(Table("", ("family", "what it describes"), list(described.items()), left=(0, 1)).to_text(), described)
