#!/bin/sh
# The example of parts of one's own: run, resumed, verified, shown in lists and reported.
# usage: own_parts.sh PROGRAM
set -eu
program=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail() { echo "own_parts: $1" >&2; exit 1; }
hash_of() { grep -o '"container_hash": "[0-9a-f]*"' "$1/run.json"; }
column() { head -n 1 "$1" | tr ',' '\n' | grep -qx "$2" || fail "$1 has no column $2"; }

# A run in one go, and the same in two parts, on another number of threads.
"$program" run arm --variant fair-3 --iterations 60 --quiet --out "$out/whole" >"$out/summary"
"$program" run arm --variant fair-3 --iterations 23 --threads 1 --quiet --out "$out/parts" >/dev/null
"$program" run --resume --iterations 60 --threads 3 --quiet --out "$out/parts" >/dev/null
[ "$(hash_of "$out/whole")" = "$(hash_of "$out/parts")" ] || fail "resumed, it is another container"

# Every part has left its traces.
column "$out/whole/metrics.csv" fights
column "$out/whole/metrics.csv" spread
column "$out/whole/encoder.csv" shift
[ -f "$out/whole/container/children.npy" ] || fail "there is no column children"
grep -q 'kind = "nearest-wins"' "$out/whole/config.toml" || fail "config.toml has another container"

"$program" verify "$out/whole" --replay 20 >"$out/verified" || { cat "$out/verified"; fail "not whole"; }
grep -q 'a place for everybody' "$out/verified" || fail "verify did not ask the container"

# Options of one's own, in a mix with ours, and a mix that makes no sense.
"$program" run arm task.joints=6 selection.kind=few-children selection.cost=2 container.kind=grid \
  descriptor.kind=hand-coded --iterations 5 --quiet --out "$out/mix" >/dev/null
if "$program" run maze encoder.kind=random-projection --out "$out/no" 2>"$out/why"; then
  fail "a mix that makes no sense was run"
fi
grep -q 'encoder.kind=random-projection does not go with the task .maze., which senses bytes' \
  "$out/why" || { cat "$out/why"; fail "the reason is another one"; }
if "$program" run arm selection.cost=101 selection.kind=few-children --out "$out/no" 2>"$out/why"; then
  fail "a value out of range was taken"
fi
grep -q 'selection.cost must be a number from 0 to 100' "$out/why" || fail "the range is not said"

for name in arm fair-n random-projection nearest-wins few-children spread; do
  "$program" list | grep -q "^  $name " || fail "list does not have $name"
done

[ "${2:-}" = report ] || exit 0
"$program" report "$out/whole" "$out/parts" --out "$out/report" >/dev/null
grep -q 'fair' "$out/report/report.html" || fail "the report has no fair"
grep -q 'spread' "$out/report/report.html" || fail "the report does not draw spread"
