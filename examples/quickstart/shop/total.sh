#!/bin/sh
# Prints what the orders in a file cost together, in cents.
tail -n +2 "$1" | {
  sum=0
  while IFS=, read -r item quantity cents; do
    sum=$((sum + cents))
  done
  echo "$sum"
}
