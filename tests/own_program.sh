#!/bin/sh
# The thrower as a program in Python against the one in C++: one container hash, also of a run that
# is stopped and goes on, and of runs that an experiment starts. Usage: own_program.sh AURORA OWN_TASK ROBOT
set -eu
aurora=$1
own_task=$2
robot="python3 '$3'"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out"
hash_of() { sed -n 's/.*"container_hash": "\(.*\)".*/\1/p' "$1/run.json"; }
same() { [ "$(hash_of "$1")" = "$(hash_of "$2")" ] || { echo "$1 and $2 differ"; exit 1; }; }

"$own_task" run thrower --iterations 60 --quiet --out cpp >/dev/null
"$aurora" run --task-command "$robot" --iterations 60 --quiet --out python >/dev/null
same cpp python

"$aurora" run --task-command "$robot" --iterations 30 --quiet --out stopped >/dev/null
"$aurora" run --task-command "$robot" --iterations 60 --quiet --out stopped --resume >/dev/null
same cpp stopped

"$aurora" verify python --task-command "$robot" --replay 20 | grep -q '20 individuals evaluate to the stored bits'
"$aurora" show python --task-command "$robot" --out pictures >/dev/null
ls pictures/individual-*-sensory.png >/dev/null
echo 0.6 0.5 0 | "$aurora" evaluate --task-command "$robot" --genes - >one
echo 0.6 0.5 0 | "$own_task" evaluate thrower --genes - | cmp - one

printf '[[study]]\ntasks = ["thrower"]\nvariants = ["aurora-csc-uniform-10"]\nsettings = { run.iterations = 60 }\n' >study.toml
"$aurora" experiment study.toml --task-command "$robot" --out study 2>/dev/null
same cpp study/study1/thrower-aurora-csc-uniform-10-seed1

# Nobody's run directory starts a program.
if "$aurora" show python 2>error; then exit 1; fi
grep -q "there is no task 'thrower'" error
