#!/bin/sh
# SPDX-License-Identifier: MIT
# Stands for `flightdeck run`: fake_run.sh FOLDER ARGUMENT... leaves an outcome whose loss is the
# learning rate. Files in FOLDER tell it what to do: fail-SAMPLE, diverge-SAMPLE, wait (until it is
# removed). Each start adds a line to FOLDER/started.
folder=$1
shift
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2 ;;
    --seed) seed=$2 ;;
    --tag) sample=${2#sample=} ;;
    --set) case $2 in learning_rate=*) loss=${2#learning_rate=} ;; esac ;;
  esac
  shift
done

# leave ENDING
leave() {
  mkdir -p "$out"
  cat >"$out/outcome.new" <<TEXT
{"format": 1, "problem": "p", "optimizer": "o", "hyperparameters": {}, "schedule": "constant",
 "batch_size": 1, "epochs": 1, "seed": $seed, "ending": "$1", "steps": 1, "steps_per_epoch": 1,
 "reported_epoch": 1, "evaluated": [0, 1], "valid": {"loss": [9, $loss]}, "test": {"loss": [9, $loss]}}
TEXT
  mv "$out/outcome.new" "$out/outcome.json"
}

trap 'leave interrupted; exit 0' TERM
echo "$sample $seed" >>"$folder/started"
while [ -e "$folder/wait" ]; do sleep 0.02; done
if [ -e "$folder/fail-$sample" ]; then
  echo "the disk is full of $sample"
  exit 3
fi
if [ -e "$folder/diverge-$sample" ]; then
  leave diverged
  exit 1
fi
leave finished
