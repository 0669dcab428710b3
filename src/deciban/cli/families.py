"""`deciban families`: the densities there are, and when to use which."""

from __future__ import annotations

from deciban.cli.options import Terminal, cli_command


@cli_command("families", example="deciban families")
def command(talk: Terminal) -> None:
    """List the densities of a column (`families=` of MixedNB in Python)."""
    import deciban

    told = deciban.list_families()
    wide = max(map(len, told))
    text = "\n".join(f"{name:{wide}}  {words}" for name, words in told.items())
    talk.give(text, told)
