#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes many runs of one: copies its folder, with other names, settings, values and times.

Usage: make_many_runs.py RUN FOLDER COUNT

For measuring how many runs the page bears (measure_many.mjs); nothing is trained.
"""
import math
import pathlib
import random
import shutil
import sqlite3
import sys

OPTIMIZERS = ("sgd", "adam", "momentum", "rmsprop")


def make(source, folder, index):
    dice = random.Random(index)
    optimizer = OPTIMIZERS[index % len(OPTIMIZERS)]
    rate = 10 ** dice.uniform(-4, -0.5)
    seed = index // len(OPTIMIZERS) % 10
    run = folder / f"study_{index // 100:02d}" / f"{optimizer}_{index:04d}"
    run.mkdir(parents=True)
    shutil.copy(source / "run.sqlite", run)
    database = sqlite3.connect(run / "run.sqlite")
    (began,) = database.execute("SELECT value FROM meta WHERE key = 'start_time'").fetchone()
    shift = 97.3 * index
    database.execute("UPDATE meta SET value = ? WHERE key = 'start_time'", (repr(float(began) + shift),))
    settings = {"optimizer": optimizer, "seed": str(seed),
                "hyperparameters": f"learning_rate {rate:.4g}, weight_decay {dice.choice((0, 0.0001, 0.001))}"}
    for key, value in settings.items():
        database.execute("INSERT OR REPLACE INTO config VALUES (?, ?)", (key, value))
    # A better rate, a smaller loss: a scatter plot is to have a shape.
    factor = 0.5 + 0.3 * abs(math.log10(rate) + 2) + dice.uniform(0, 0.2)
    database.execute("UPDATE numbers SET value = value * ?", (factor,))
    for table in ("numbers", "lists", "histograms", "notes"):
        database.execute(f"UPDATE {table} SET time = time + ?", (shift,))
    # The summed-up stretches no longer hold; readers do without.
    database.execute("DROP TABLE IF EXISTS stretches")
    database.execute("UPDATE progress SET last_time = last_time + ?", (shift,))
    database.commit()
    database.close()


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for index in range(int(sys.argv[3])):
        make(source, folder, index)


if __name__ == "__main__":
    main()
