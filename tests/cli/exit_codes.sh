#!/bin/sh
# SPDX-License-Identifier: MIT
# Exit codes and messages of the command-line tool: exit_codes.sh <path of flightdeck>
set -u
flightdeck=$1
failures=0

# expect CODE WORDS ARGUMENT...: runs the tool and looks for WORDS in what it prints.
expect() {
  code=$1
  words=$2
  shift 2
  output=$("$flightdeck" "$@" 2>&1)
  got=$?
  if [ "$got" -ne "$code" ]; then
    echo "flightdeck $*: exit code $got, expected $code: $output"
    failures=$((failures + 1))
  fi
  case $output in
    *"$words"*) ;;
    *)
      echo "flightdeck $*: no '$words' in: $output"
      failures=$((failures + 1))
      ;;
  esac
}

expect 0 'flightdeck ' --version
expect 0 'doctor' --help
expect 0 '--quantity' bench first-order --help
expect 0 'LibTorch' doctor
expect 0 '"blas"' doctor --json
expect 0 '"ratio"' bench first-order --problem mnist_mlp --batch 2 --repeats 1 --warm-up 0 \
  --quantity row_norms --json
expect 0 '--quantity' bench curvature --help
expect 0 '"ratio"' bench curvature --problem mnist_mlp --batch 2 --repeats 1 --warm-up 0 \
  --quantity diag_ggn --json
expect 0 '"products"' bench curvature --problem mnist_mlp --batch 2 --repeats 1 --warm-up 0 \
  --quantity hess_max_ev_warm --json
expect 2 'a command is missing; choose one of curvature' bench
expect 2 "no problem 'mnist'; choose one of cifar100_3c3d" bench first-order --problem mnist
expect 2 "no quantity 'norm'; choose from individual_gradients" bench first-order --quantity norm
expect 2 "no path 'hooks'; choose one of gradients" bench first-order --path hooks
expect 2 "no device 'tpu'; choose one of cpu, cuda" bench first-order --device tpu
expect 2 '--batch is 0 but must be at least 1' bench first-order --batch 0
expect 2 '--threads is 0 but must be at least 1' bench first-order --threads 0
expect 2 '--repeats is 0 but must be at least 1' bench first-order --repeats 0
expect 2 "bench first-order: there is no option '--bach'; did you mean '--batch'?" \
  bench first-order --bach 3
expect 2 "bench curvature: there is no problem 'mnist'" bench curvature --problem mnist
expect 2 "no quantity 'ggn'; choose from diag_ggn" bench curvature --quantity ggn
expect 2 "bench curvature: --batch is 0 but must be at least 1" bench curvature --batch 0
if "$flightdeck" doctor --json | grep -q '"cuda_devices":0,'; then
  expect 1 'sees no CUDA device; use --device cpu' bench first-order --device cuda
fi
[ "$failures" -eq 0 ]
