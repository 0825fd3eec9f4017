"""python3 -m aurora_qd: the commands `aurora report`, `aurora digest` and `aurora export`."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Optional, Sequence

from .runs import RunError, load, load_many, reason


def report(arguments: argparse.Namespace) -> None:
    from .report import write_report  # Matplotlib takes a second to load
    from .study import Study

    study = Study(load_many(arguments.directories))
    for note in study.notes:
        print(f"aurora: note: {note}", file=sys.stderr)
    if not study.arms:
        raise RunError("there is no run to report on")
    print(write_report(study, Path(arguments.out), arguments.against))


def digest(arguments: argparse.Namespace) -> None:
    from .digest import write_digest

    written, notes = write_digest(arguments.directories, arguments.out)
    for note in notes:
        print(f"aurora: note: {note}", file=sys.stderr)
    if not written:
        raise RunError("there is no run to keep anything of")
    print(f"{len(written)} run{'s' * (len(written) > 1)} in {arguments.out}")


def export(arguments: argparse.Namespace) -> None:
    from .export import to_csv, to_npz

    run = load(arguments.run)
    if run.is_digest:
        raise RunError(f"{run.path}: is a digest, whose individuals have no genes")
    kind = "csv" if arguments.csv else "npz"
    out = Path(arguments.out or f"{run.path.resolve().name}.{kind}")
    (to_csv if arguments.csv else to_npz)(run, out)
    print(out)


def parser() -> argparse.ArgumentParser:
    program = argparse.ArgumentParser(prog="aurora", description=__doc__)
    commands = program.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("report", help="figures, statistics and claims of runs, in one page")
    one.add_argument(
        "directories", metavar="DIR", nargs="+", help="a run, or a directory with runs below"
    )
    one.add_argument(
        "--out", metavar="DIR", default="report", help="where to write it (default: report)"
    )
    one.add_argument(
        "--against",
        metavar="VARIANT",
        action="append",
        default=[],
        help="hold others against it on the way and at the end; may be given again",
    )
    one.set_defaults(act=report)
    keep = commands.add_parser("digest", help="what a report needs of runs, in little space")
    keep.add_argument(
        "directories", metavar="DIR", nargs="+", help="a run, or a directory with runs below"
    )
    keep.add_argument("--out", metavar="DIR", required=True, help="where to write it")
    keep.set_defaults(act=digest)
    two = commands.add_parser("export", help="the container of a run as one file")
    two.add_argument("run", metavar="RUN")
    kind = two.add_mutually_exclusive_group(required=True)
    kind.add_argument(
        "--csv",
        action="store_true",
        help="id, fitness, ground truth, descriptors, genes, extra columns",
    )
    kind.add_argument(
        "--npz", action="store_true", help="every column, sensory data too; axes, bounds, units"
    )
    two.add_argument(
        "--out", metavar="FILE", help="(default: the run's name in the current directory)"
    )
    two.set_defaults(act=export)
    return program


def main(words: Optional[Sequence[str]] = None) -> int:
    arguments = parser().parse_args(words)
    try:
        arguments.act(arguments)
    except RunError as error:
        print(f"aurora: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        what = f"cannot reach '{error.filename}': " if error.filename else ""
        print(f"aurora: error: {what}{reason(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
