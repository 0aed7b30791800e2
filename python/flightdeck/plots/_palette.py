# SPDX-License-Identifier: MIT
"""The colours of the page (web/src/widgets/palette.ts), in its light theme."""

from __future__ import annotations

from typing import Any

TEXT = "#17212c"
FAINT = "#5a6877"
GRID = "#e6eaef"
LINES = ["#0072b2", "#d55e00", "#008f68", "#b0578a", "#a87000", "#2b8cc4", "#7d7400", "#4f5b66"]
GOOD = "#00795a"
WARNING = "#965900"
BAD = "#c0392b"
_HEAT = ["#f3f7ea", "#b8de8f", "#6cc28a", "#2f9e8f", "#2a788e", "#35508a", "#440f5c"]

# Of names, marks and lines of axes; text in vector files stays text.
STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#b9c2cc",
    "axes.grid": True,
    "axes.labelcolor": FAINT,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": TEXT,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "figure.facecolor": "white",
    "font.family": "sans-serif",
    "font.size": 9,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "legend.fontsize": 8,
    "pdf.fonttype": 42,
    "savefig.dpi": 150,
    "svg.fonttype": "none",
    "text.color": TEXT,
    "xtick.color": FAINT,
    "xtick.labelsize": 8,
    "ytick.color": FAINT,
    "ytick.labelsize": 8,
}


def heat() -> Any:
    """The colours of counts; cells without any stay empty."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("flightdeck", _HEAT)
