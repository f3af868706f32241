#!/bin/sh
# Says whether `total.sh` is right about `orders.csv`.
cd "$(dirname "$0")" || exit 1
total=$(sh total.sh orders.csv)
if [ "$total" = 4200 ]; then
  echo "ok"
else
  echo "expected 4200, got $total"
  exit 1
fi
