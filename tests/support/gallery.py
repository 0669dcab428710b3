"""The scripts of `examples/lectures`: run one, and look over its pictures."""

from __future__ import annotations

import os
import runpy
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl

from .data import ROOT

FOLDER = ROOT / "examples" / "lectures"
WIDE = 800  # pixels of a picture
LOOK = "DECIBAN_GALLERY"  # a folder that pictures are written to, to look at


def run(name: str, *arguments: str) -> dict[str, Any]:
    """The names that a script defines, once its pictures have been checked."""
    mpl.use("agg")
    from matplotlib import pyplot

    pyplot.close("all")
    found = runpy.run_path(str(FOLDER / f"{name}.py"), run_name="lecture")
    for number in pyplot.get_fignums():
        check_picture(pyplot.figure(number), f"{name}_{number}")
    return found


def labels_out_of_view(figure: Any) -> set[Any]:
    """Labels of ticks beyond the limits of their axis, or of axes that are switched off, which are not drawn."""
    found = set()
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not (axis.axes.axison and low <= tick.get_loc() <= high):
                found |= {tick.label1, tick.label2}
    return found


def check_picture(figure: Any, name: str) -> None:
    """No two texts of a picture overlap, all are inside of it, and all are large enough to be read."""
    figure.set_dpi(WIDE / figure.get_figwidth())
    figure.canvas.draw()
    if LOOK in os.environ:
        figure.savefig(Path(os.environ[LOOK]) / f"{name}.png", dpi=figure.dpi)
    hidden = labels_out_of_view(figure)
    texts = [one for one in figure.findobj(mpl.text.Text) if one.get_visible() and one.get_text().strip()]
    texts = [one for one in texts if one not in hidden]
    boxes = [(one.get_text(), one.get_window_extent()) for one in texts if one.get_window_extent().width > 0]
    small = [text for text, box in boxes if min(box.height, box.width) < 6]
    assert not small, f"{name}: {small} cannot be read"
    room = figure.bbox.padded(1)
    outside = [text for text, box in boxes if not (room.containsx(box.x0) and room.containsx(box.x1))]
    assert not outside, f"{name}: {outside} are cut off"
    over = [(a, b) for (a, one), (b, two) in combinations(boxes, 2) if one.padded(-1).overlaps(two.padded(-1))]
    assert not over, f"{name}: {over} overlap"
