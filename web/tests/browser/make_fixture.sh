#!/bin/sh
# SPDX-License-Identifier: MIT
# Records the two runs of fixture/ anew: make_fixture.sh path/to/flightdeck. The screenshots depend
# on them: afterwards run node browser.mjs --flightdeck path/to/flightdeck --update.
set -eu
binary=$(realpath "$1")
cd "$(dirname "$0")"
rm -rf fixture
mkdir fixture
export OMP_WAIT_POLICY=PASSIVE
extra="--quantity sample_outliers --quantity update_ratio --quantity dead_units --quantity saturated_units
  --quantity grad_noise_scale --quantity grad_cosine --quantity ggn_spectrum --quantity cabs
  --quantity grad_hist_1d:bins=60,low=-0.1,high=0.1
  --quantity grad_hist_2d:gradient_low=-0.1,gradient_high=0.1,parameter_low=-0.1,parameter_high=0.1,gradient_bins=20,parameter_bins=20
  --quantity early_stopping --quantity mean_gsnr --quantity hess_min_ev --quantity parameters"
common="--synthetic --limit 512 --batch-size 32 --threads 1 --evaluate-every 1"
"$binary" run mnist_mlp $common --lr 0.3 --steps 64 --track "every 4" --preset full --group parameter $extra \
  --seed 7 --out fixture/sgd
"$binary" run mnist_mlp $common --optimizer adam --lr 0.001 --steps 48 --interval 2 --preset economy --seed 8 \
  --out fixture/adam
# Nothing of the machine that made them.
for run in sgd adam; do
  python3 - "fixture/$run/run.sqlite" "$run" <<'EOF'
import sqlite3
import sys

database = sqlite3.connect(sys.argv[1])
start = 1.7e9 + (0 if sys.argv[2] == "sgd" else 3600)
(began,) = database.execute("SELECT value FROM meta WHERE key = 'start_time'").fetchone()
shift = start - float(began)
database.execute("UPDATE meta SET value = ? WHERE key = 'start_time'", (repr(start),))
database.execute("UPDATE meta SET value = 'example' WHERE key = 'host'")
database.execute("UPDATE meta SET value = ? WHERE key = 'command'", (f"flightdeck run mnist_mlp --out {sys.argv[2]}",))
for table in ("numbers", "lists", "histograms", "notes"):
    database.execute(f"UPDATE {table} SET time = time + ?", (shift,))
database.execute("UPDATE progress SET last_time = last_time + ?", (shift,))
database.commit()
database.execute("VACUUM")
EOF
done
du -ab fixture
