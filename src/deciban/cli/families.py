"""`deciban families`: the densities there are, and when to use which."""

from __future__ import annotations

from deciban.cli.options import Terminal, cli_command


@cli_command("families", example="deciban families")
def command(talk: Terminal) -> None:
    """List the densities of a column (`families=` of MixedNB in Python)."""
    import deciban
    from deciban.display import Table

    told = deciban.list_families()
    talk.give(Table("", ("family", "what it describes"), list(told.items()), left=(0, 1)).to_text(), told)
