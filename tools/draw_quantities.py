#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of docs/quantities.md, one for each quantity, from recorded runs.

Usage: draw_quantities.py FAULTS [--out FOLDER] [--steps N] [--runs FOLDER]
FAULTS is the built examples/faults, which records one small training with each fault. The pictures go to
docs/images/quantities/<quantity>.svg. A quantity that SHOWN does not name is drawn as lines of its main
value, so that a new one needs no edit here. --runs keeps the records, and uses those that are there.
"""

import argparse
import itertools
import math
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 560, 200
LEFT, RIGHT, TOP, BOTTOM = 62, 150, 14, 34
COLOURS = ("#0b6e99", "#c4491d", "#7a5195", "#4d7c0f")
INK, FAINT = "#333333", "#dddddd"
NAMES = {
    "none": "healthy", "large_rate": "rate too large", "small_rate": "rate too small",
    "small_batch": "batch of 8", "unscaled_inputs": "inputs not scaled",
    "heavy_samples": "a few weigh 20", "random_labels": "random labels",
    "large_weights": "weights too large", "dead_layer": "dead layer", "offset_inputs": "inputs with an offset",
}


@dataclass
class Shown:
    """Which runs a picture compares, and how."""
    runs: tuple = ("none", "large_rate", "small_rate")
    log: bool = False  # the vertical axis
    at_most: float = math.inf  # values beyond are drawn at the edge
    guides: dict = field(default_factory=dict)  # value: what it means
    kind: str = "lines"  # or histogram, heat, spectrum


RATES = ("none", "large_rate", "small_rate")
SHOWN = {
    "activation_scale": Shown(("none", "large_weights", "dead_layer"), log=True),
    "alpha": Shown(RATES, at_most=4, guides={-1: "no step", 0: "bottom", 1: "as far up"}),
    "attention": Shown(("none",)),
    "cabs": Shown(("none", "random_labels", "small_rate"), log=True, guides={64: "batch in use"}),
    "critical_batch": Shown(("none", "random_labels"), log=True, guides={64: "batch in use"}),
    "dead_units": Shown(("none", "dead_layer")),
    "distance": Shown(RATES, log=True),
    "early_stopping": Shown(("none", "random_labels"), guides={0: "only noise above"}),
    "experts": Shown(("none",)),
    "finite": Shown(("none",)),
    "ggn_spectrum": Shown(("none",), kind="spectrum"),
    "grad_cosine": Shown(("none", "offset_inputs"), guides={0: "unrelated"}),
    "grad_hist_1d": Shown(("none", "unscaled_inputs"), kind="histogram"),
    "grad_hist_2d": Shown(("none",), kind="heat"),
    "grad_noise_scale": Shown(("none", "random_labels"), log=True, guides={64: "batch in use"}),
    "grad_norm": Shown(("none", "large_rate", "dead_layer"), log=True),
    "hess_max_ev": Shown(("none", "large_rate"), log=True, guides={10: "2 / healthy rate"}),
    "hess_min_ev": Shown(("none", "large_weights"), guides={0: "no way down"}),
    "hess_trace": Shown(("none", "large_weights"), log=True),
    "inner_test": Shown(("none", "small_batch"), log=True, guides={1: "more noise above"}),
    "inputs": Shown(("none", "unscaled_inputs", "offset_inputs"), log=True, guides={1: "usual"}),
    "label_conflicts": Shown(("none", "random_labels")),
    "learning_rate": Shown(RATES, log=True),
    "logits": Shown(("none", "small_rate", "large_weights"), log=True),
    "loss": Shown(RATES, at_most=6),
    "mean_gsnr": Shown(("none", "random_labels"), log=True),
    "norm_test": Shown(("none", "small_batch"), log=True, guides={1: "more noise above"}),
    "ortho_test": Shown(("none", "small_batch"), log=True, guides={1: "more noise above"}),
    "parameters": Shown(RATES, log=True),
    "sample_outliers": Shown(("none", "heavy_samples"), log=True, guides={10: "look at them"}),
    "saturated_units": Shown(("none", "large_weights")),
    "sharpness": Shown(RATES, log=True, guides={1: "edge of stability"}),
    "spikes": Shown(("none", "heavy_samples"), guides={6: "spike"}),
    "step_times": Shown(("none",), log=True),
    "tic_diag": Shown(("none", "random_labels"), log=True),
    "tic_trace": Shown(("none", "random_labels")),
    "time": Shown(("none",)),
    "trained": Shown(("none", "dead_layer")),
    "update_ratio": Shown(RATES, guides={-3: "usual"}),
    "update_size": Shown(RATES, log=True),
    "weight_spectra": Shown(("none", "large_rate", "large_weights"), log=True),
    "wiring": Shown(("none",)),
}


# ---- records -------------------------------------------------------------------------------------


class Record:
    def __init__(self, folder):
        self.database = sqlite3.connect(f"file:{folder}/run.sqlite?mode=ro", uri=True)

    def numbers(self, quantity):
        return self.database.execute(
            "SELECT step, value FROM named_numbers WHERE quantity = ? AND field = '' AND group_name = '' "
            "ORDER BY step", (quantity,)).fetchall()

    def blob(self, table, quantity, name, order):
        row = self.database.execute(
            f"SELECT value FROM {table} WHERE series = (SELECT id FROM series WHERE quantity = ? AND "
            f"field = ? AND group_name = '') ORDER BY step {order} LIMIT 1", (quantity, name)).fetchone()
        return row[0]

    def last_list(self, quantity, name):
        blob = self.blob("lists", quantity, name, "DESC")
        return struct.unpack(f"<{len(blob) // 8}d", blob)

    def histogram(self, quantity, order):
        """Returns (axes [(low, high, bins)], counts, below, above), as docs/wire_format.md has it."""
        blob = self.blob("histograms", quantity, "", order)
        place = 0

        def varint():
            nonlocal place
            value = shift = 0
            while True:
                byte = blob[place]
                place += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value

        axes = []
        for _ in range(varint()):
            low, high = struct.unpack_from("<2d", blob, place)
            place += 16
            axes.append((low, high, varint()))
        below, above, _ = varint(), varint(), varint()
        total = varint()
        counts = []
        while len(counts) < total:
            count = varint()
            counts.extend([0] * varint() if count == 0 else [count])
        return axes, counts, below, above


# ---- drawing -------------------------------------------------------------------------------------


def number_text(value):
    if value != 0 and (abs(value) >= 10000 or abs(value) < 0.01):
        mantissa, exponent = f"{value:.0e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{value:.4g}"


def ticks(low, high):
    span = high - low
    step = 10 ** math.floor(math.log10(span / 3))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= 4)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


class Axis:
    def __init__(self, values, log, start, end):
        values = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
        low, high = (min(values), max(values)) if values else (0, 1)
        self.log, self.start, self.end = log, start, end
        if log:
            low, high = math.log10(low), math.log10(high)
        room = 0.06 * (high - low) or 0.5
        self.low, self.high = low - room, high + room

    def place(self, value):
        if self.log:
            value = math.log10(value)
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self):
        if not self.log:
            return ticks(self.low, self.high)
        whole = range(math.ceil(self.low), math.floor(self.high) + 1)
        if len(whole) >= 2:
            stride = math.ceil(len(whole) / 4)
            return [10.0 ** k for k in whole if k % stride == 0]
        # Less than two decades: ordinary numbers, at their logarithmic places.
        return [value for value in ticks(10 ** self.low, 10 ** self.high) if value > 0]


class Picture:
    def __init__(self, words):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" font-family="sans-serif" font-size="11">',
            f"<title>{escape(words)}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#ffffff"/>']

    def line(self, x1, y1, x2, y2, colour, width=1.0, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" '
                          f'stroke-width="{width}"{dashes}/>')

    def text(self, x, y, words, colour=INK, anchor="start"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">'
                          f"{escape(words)}</text>")

    def box(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
                          f'fill="{colour}"/>')

    def path(self, points, colour):
        steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.parts.append(f'<path d="M{steps}" fill="none" stroke="{colour}" stroke-width="1.6" '
                          'stroke-linejoin="round"/>')

    def axes(self, x, y, below):
        for value in y.ticks():
            place = y.place(value)
            self.line(LEFT, place, WIDTH - RIGHT, place, FAINT)
            self.text(LEFT - 6, place + 4, number_text(value), anchor="end")
        for value in x.ticks():
            self.text(x.place(value), HEIGHT - BOTTOM + 14, number_text(value), anchor="middle")
        self.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 5, below, anchor="middle")

    def svg(self):
        return "\n".join(self.parts) + "\n</svg>\n"


def spread(places, gap, low, high):
    """Moves labels apart: returns places in the same order that are `gap` from each other."""
    order = sorted(range(len(places)), key=lambda k: places[k])
    result = list(places)
    previous = low - gap
    for k in order:
        result[k] = previous = max(places[k], previous + gap)
    following = high + gap
    for k in reversed(order):
        result[k] = following = min(result[k], following - gap)
    return result


def draw_lines(picture, shown, series):
    edge = shown.at_most
    lines = [[(step, min(value, edge)) for step, value in points
              if value is not None and math.isfinite(value) and (value > 0 or not shown.log)]
             for points in series]
    values = [value for points in lines for _, value in points]
    guides = {value: words for value, words in shown.guides.items()}
    y = Axis(values + list(guides), shown.log, HEIGHT - BOTTOM, TOP)
    x = Axis([step for points in lines for step, _ in points], False, LEFT, WIDTH - RIGHT)
    picture.axes(x, y, "step")
    labels = []  # (place, words, colour)
    for value, words in guides.items():
        picture.line(LEFT, y.place(value), WIDTH - RIGHT, y.place(value), "#888888", 1, "4 3")
        labels.append((y.place(value), f"{number_text(value)}: {words}", "#666666"))
    for points, run, colour in zip(lines, shown.runs, COLOURS):
        if not points:
            continue
        places = [(x.place(step), y.place(value)) for step, value in points]
        picture.path(places, colour)
        is_cut = any(value == edge for _, value in points)
        labels.append((places[-1][1], NAMES[run] + (" (cut)" if is_cut else ""), colour))
    heights = spread([place for place, _, _ in labels], 13, TOP, HEIGHT - BOTTOM)
    for height, (_, words, colour) in zip(heights, labels):
        picture.text(WIDTH - RIGHT + 6, height + 4, words, colour)


def draw_histogram(picture, shown, histograms):
    (low, high, bins) = histograms[0][0][0]
    x = Axis([low, high], False, LEFT, WIDTH - RIGHT)
    x.low, x.high = low, high
    y = Axis([1] + [count for _, counts, _, _ in histograms for count in counts], True, HEIGHT - BOTTOM, TOP)
    picture.axes(x, y, "entry of an individual gradient; counts are logarithmic")
    for k, ((_, counts, below, above), run) in enumerate(zip(histograms, shown.runs)):
        places = []
        for position, count in enumerate(counts):
            height = y.place(max(count, 10 ** y.low))
            places += [(x.place(low + (high - low) * end / bins), height) for end in (position, position + 1)]
        picture.path(places, COLOURS[k])
        share = 100 * (below + above) / (sum(counts) + below + above)
        picture.text(WIDTH - RIGHT + 6, TOP + 12 + 44 * k, NAMES[run], COLOURS[k])
        picture.text(WIDTH - RIGHT + 6, TOP + 26 + 44 * k, f"outside: {share:.2g} %", "#666666")


def draw_heat(picture, histogram):
    (gradients, parameters), counts, _, _ = histogram
    x = Axis([0], False, LEFT, WIDTH - RIGHT)
    x.low, x.high = parameters[0], parameters[1]
    y = Axis([0], False, HEIGHT - BOTTOM, TOP)
    y.low, y.high = gradients[0], gradients[1]
    width = (WIDTH - RIGHT - LEFT) / parameters[2]
    height = (HEIGHT - BOTTOM - TOP) / gradients[2]
    most = math.log(1 + max(counts))
    picture.axes(x, y, "value of the parameter")
    shades = {}  # one path for each of six shades, of boxes as wide as neighbours are equal: a small file
    for row in range(gradients[2]):
        cells = [math.ceil(6 * math.log(1 + count) / most)
                 for count in counts[row * parameters[2]:(row + 1) * parameters[2]]]
        top = HEIGHT - BOTTOM - (row + 1) * height
        for shade, group in itertools.groupby(range(len(cells)), key=cells.__getitem__):
            columns = list(group)
            if shade:
                shades.setdefault(shade, []).append(
                    f"M{LEFT + columns[0] * width:.1f} {top:.1f}h{len(columns) * width:.1f}v{height:.1f}"
                    f"h-{len(columns) * width:.1f}z")
    for shade, boxes in sorted(shades.items()):
        picture.parts.append(f'<path d="{"".join(boxes)}" fill="{COLOURS[0]}" fill-opacity="{shade / 6:.2f}"/>')
    picture.text(WIDTH - RIGHT + 6, TOP + 12, "upwards: entry of", "#666666")
    picture.text(WIDTH - RIGHT + 6, TOP + 26, "individual gradients", "#666666")
    picture.text(WIDTH - RIGHT + 6, TOP + 54, "darker: more entries", "#666666")


def draw_spectrum(picture, eigenvalues, ratios):
    y = Axis([0, 1.1 * eigenvalues[0]], False, HEIGHT - BOTTOM, TOP)
    y.low = 0
    x = Axis([0], False, LEFT, WIDTH - RIGHT)
    x.low, x.high = 0.5, len(eigenvalues) + 0.5
    picture.axes(x, y, "direction, by its eigenvalue")
    width = 0.6 * (WIDTH - RIGHT - LEFT) / len(eigenvalues)
    for k, (value, ratio) in enumerate(zip(eigenvalues, ratios), start=1):
        top = y.place(value)
        picture.box(x.place(k) - width / 2, top, width, HEIGHT - BOTTOM - top, COLOURS[0])
        picture.text(x.place(k), top - 3, f"{ratio:.1g}", COLOURS[1], anchor="middle")
    picture.text(WIDTH - RIGHT + 6, TOP + 12, "bars: eigenvalues", COLOURS[0])
    picture.text(WIDTH - RIGHT + 6, TOP + 28, "numbers: slope_snr", COLOURS[1])


def draw(quantity, records):
    shown = SHOWN.get(quantity, Shown())
    picture = Picture(f"{quantity}: " + ", ".join(NAMES[run] for run in shown.runs))
    chosen = [records[run] for run in shown.runs]
    if shown.kind == "lines":
        draw_lines(picture, shown, [record.numbers(quantity) for record in chosen])
    elif shown.kind == "histogram":
        draw_histogram(picture, shown, [record.histogram(quantity, "ASC") for record in chosen])
    elif shown.kind == "heat":
        draw_heat(picture, chosen[0].histogram(quantity, "DESC"))
    else:
        draw_spectrum(picture, chosen[0].last_list(quantity, "eigenvalues"),
                      chosen[0].last_list(quantity, "slope_snr"))
    return picture.svg()


# ---- the whole -----------------------------------------------------------------------------------


def record_all(faults, folder, steps):
    environment = dict(os.environ, OMP_NUM_THREADS="1")  # the same sums in the same order everywhere
    for run in NAMES:
        if not (folder / run / "run.sqlite").exists():
            subprocess.run([faults, run, str(folder / run), str(steps)], check=True, env=environment)
    return {run: Record(folder / run) for run in NAMES}


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("faults")
    parser.add_argument("--out", type=Path,
                        default=Path(__file__).resolve().parent.parent / "docs/images/quantities")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--runs", type=Path)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        records = record_all(options.faults, options.runs or Path(scratch), options.steps)
        names = [name for (name,) in records["none"].database.execute("SELECT name FROM quantities")]
        for name in names:
            (options.out / f"{name}.svg").write_text(draw(name, records), encoding="utf-8")
    print(f"{len(names)} pictures in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
