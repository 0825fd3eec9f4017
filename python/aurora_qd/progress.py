"""How far a run is, on stderr: a line that renews itself on a terminal, log lines elsewhere."""
from __future__ import annotations

import sys
import time
from typing import Mapping, Optional, TextIO


class Progress:
    """Told by the run what happens. Quiet: warnings alone."""

    def __init__(self, quiet: bool = False, stream: Optional[TextIO] = None):
        self._quiet = quiet
        self._stream = stream
        self._start = time.monotonic()
        self._due = self._start + 1
        self._first = 0  # iteration
        self._open = 0  # characters of the line that renews itself

    @property
    def stream(self) -> TextIO:
        return self._stream or sys.stderr

    def _terminal(self) -> bool:
        return bool(getattr(self.stream, "isatty", lambda: False)())

    def _show(self, text: str) -> None:
        if self._terminal():
            self.stream.write("\r" + text.ljust(self._open))
            self._open = len(text)
        else:
            self.stream.write(text + "\n")
        self.stream.flush()
        self._due = time.monotonic() + (0.2 if self._terminal() else 10)

    def _say(self, text: str) -> None:
        self.ended()
        self.stream.write(text + "\n")
        self.stream.flush()

    def wants_standing(self) -> bool:
        return not self._quiet and time.monotonic() >= self._due

    def makes(self, what: str, share: float) -> None:
        if self.wants_standing():
            self._show(f"{what}: {100 * share:.0f} %")

    def stands(
        self,
        iteration: int,
        iterations: int,
        evaluations: int,
        size: int,
        target: int,
        row: Mapping[str, float],
    ) -> None:
        if self._quiet or (iteration < iterations and time.monotonic() < self._due):
            return
        seconds = time.monotonic() - self._start
        left = seconds / max(iteration - self._first, 1) * (iterations - iteration)
        pieces = [f"{iteration}/{iterations}", f"{size} individuals (target {target})"]
        if "coverage" in row:
            pieces.append(f"coverage {row['coverage']:.1f} %")
        pieces.append(f"{left:.0f} s left" if iteration < iterations else f"{seconds:.0f} s")
        self._show(" · ".join(pieces))

    def resumed(self, iteration: int, evaluations: int) -> None:
        self._first = iteration
        self._start = time.monotonic()

    def ended(self) -> None:
        if self._open and self._terminal():
            self.stream.write("\n")
        self._open = 0

    def saved_up_to(self, iteration: int) -> None:
        self._say(f"aurora: the run can be resumed from iteration {iteration}")

    def note(self, text: str) -> None:
        if not self._quiet:
            self._say(f"aurora: note: {text}")

    def warn(self, text: str) -> None:
        self._say(f"aurora: warning: {text}")
