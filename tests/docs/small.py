"""Runs a program with its long commands made short: small.py PROGRAM WORD..."""

from __future__ import annotations

import os
import sys

ITERATIONS = 20
LONGER = 30  # of a run that goes on
SMALL = {"run.batch": 16, "container.target_size": 100}


def shortened(words: list[str]) -> list[str]:
    """The words of a run with few iterations of few evaluations, and of a training with few epochs;
    any others as they are."""
    if words[:1] == ["retrain"]:
        words = list(words)
        if "--epochs" in words:
            words[words.index("--epochs") + 1] = "2"
            return words
        return [*words, "--epochs", "2"]
    if words[:1] != ["run"] or "--help" in words:
        return words
    out = words[words.index("--out") + 1] if "--out" in words else None
    goes_on = "--resume" in words and out is not None and os.path.exists(out)
    most = LONGER if goes_on else ITERATIONS
    words = list(words)
    if "--iterations" in words:
        place = words.index("--iterations") + 1
        words[place] = str(min(int(words[place]), most))
    elif not goes_on:
        words += ["--iterations", str(most)]
    if goes_on or "--config" in words:  # it has its settings
        return words
    said = {word.split("=")[0] for word in words}
    return words + [f"{key}={value}" for key, value in SMALL.items() if key not in said]


if __name__ == "__main__":
    os.execv(sys.argv[1], [sys.argv[1], *shortened(sys.argv[2:])])
