"""Writes a report: report.html, which needs no other file, the figures as PNG and PDF, and the
tables as CSV."""
from __future__ import annotations

import base64
import io
import re
from html import escape
from itertools import combinations, count
from pathlib import Path
from typing import Any, Callable, Iterable, Optional, Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from . import figures, paper, paper_figures
from .claims import CLOSE_COVERAGE, FAILS, HOLDS, LEVEL, NEAR_TARGET, Finding, Verdict, verdicts
from .drawing import metric_label, metric_name
from .moments import BETTER, SHARES, WORSE, check, moments
from .statistics import compare, quartiles, seeds_needed, smallest_p
from .study import BUDGET, SHORT, Arm, Study, clock_of

# Those that every task has; the task's own come after them.
TESTED = ("coverage", "grid_mean_fitness", "qd_score")
MOST_PANELS = 8  # of a figure with a panel per metric
MOST_CURVES, MOST_MAPS, MOST_ROWS = 10, 12, 4  # configurations in a figure
WIDE = 850  # pixels
MARKS = {HOLDS: ("✓", "good"), FAILS: ("✗", "bad")}
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
nav a { margin-right: .8rem; white-space: nowrap; } a { color: #0072B2; }
figure { margin: 1rem 0; } img { max-width: 100%; }
figcaption, .quiet { color: #555; font-size: 90%; }
table { border-collapse: collapse; font-size: 85%; margin: 1rem 0; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #ddd; text-align: left;
         vertical-align: top; }
td.number { text-align: right; white-space: nowrap; } .wide { overflow-x: auto; }
td.below { background: #cfe3f3; } td.name { min-width: 12rem; }
.good { color: #00664a; font-weight: 600; } .bad { color: #a34700; font-weight: 600; }
@media (max-width: 45rem) { body { margin: 1rem auto; } .wide img { max-width: 48rem; } }
"""


class Page:
    """Collects the parts of the page and saves the figures beside it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.parts: list[str] = []
        self._sections: list[tuple[str, str]] = []
        self._begun: Optional[tuple[str, str, str]] = None
        self._names: set[str] = set()

    def section(self, id: str, heading: str, about: str = "") -> None:
        """Is there once something is in it."""
        self._begun = (id, heading, about)

    def add(self, part: str) -> None:
        """HTML."""
        if self._begun:
            id, heading, about = self._begun
            self._begun = None
            self._sections.append((id, heading))
            self.parts.append(f'<h2 id="{id}">{len(self._sections)}. {escape(heading)}</h2>')
            if about:
                self.text(about)
        self.parts.append(part)

    def text(self, words: str, kind: str = "") -> None:
        self.add(f'<p class="{kind}">{escape(words)}</p>' if kind else f"<p>{escape(words)}</p>")

    def figure(self, name: str, caption: str, figure: Optional[Figure]) -> None:
        """Nothing if there is no figure."""
        if figure is None:
            return
        name = self._file_name(name)
        # To lay it out and to look how far it reaches takes as long as to draw it: once, instead of
        # for each of the two files (bbox_inches="tight").
        figure.set_dpi(plt.rcParams["savefig.dpi"])
        figure.draw_without_rendering()
        figure.set_layout_engine(None)
        box = figure.get_tightbbox().padded(plt.rcParams["savefig.pad_inches"])
        picture = io.BytesIO()
        figure.savefig(picture, format="png", bbox_inches=box)
        (self.folder / f"{name}.png").write_bytes(picture.getvalue())
        figure.savefig(
            self.folder / f"{name}.pdf", bbox_inches=box, metadata={"CreationDate": None}
        )
        plt.close(figure)
        data = base64.b64encode(picture.getvalue()).decode()
        # A wide one is scrolled on a narrow screen, where its words would be too small to read.
        wide = ' class="wide"' if int.from_bytes(picture.getvalue()[16:20], "big") > WIDE else ""
        self.add(
            f'<figure><div{wide}><img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
            f"</div><figcaption>{escape(caption)}</figcaption></figure>"
        )

    def _file_name(self, name: str) -> str:
        """One of its own: it holds the name of a task, which may be any."""
        plain = re.sub(r"[^\w-]", "_", name)
        choices = (plain if i == 1 else f"{plain}-{i}" for i in count(1))
        found = next(choice for choice in choices if choice not in self._names)
        self._names.add(found)
        return found

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Cells are HTML already."""
        body = "".join(
            "<tr>"
            + "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in row)
            + "</tr>"
            for row in rows
        )
        top = "".join(f"<th>{escape(word)}</th>" for word in head)
        self.add(f'<div class="wide"><table><tr>{top}</tr>{body}</table></div>')

    def write(self, heading: str) -> Path:
        links = "".join(f'<a href="#{id}">{escape(name)}</a> ' for id, name in self._sections)
        path = self.folder / "report.html"
        path.write_text(
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(heading)}</title>"
            f"<style>{STYLE}</style></head><body><h1>{escape(heading)}</h1><nav>{links}</nav>\n"
            + "\n".join(self.parts)
            + "\n</body></html>\n",
            encoding="utf-8",
            errors="replace",  # names of files may be anything
        )
        return path


def number(value: Optional[float]) -> str:
    if value is None or np.isnan(value):
        return "-"
    if abs(value) < 0.001:
        return f"{value:.2g}"
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def cell(text: str, kind: str = "number") -> str:
    return f'<td class="{kind}">{text}</td>'


def _overview(page: Page, study: Study) -> None:
    runs = [run for arm in study.arms for run in arm.runs]
    medians = (
        " Numbers are medians over the replications with the inter-quartile range, at the last "
        "iteration that all of them have logged."
        if len(runs) > len(study.arms)
        else ""
    )
    page.section("runs", "Runs", f"{len(runs)} run{'s' * (len(runs) > 1)}.{medians}")
    further = dict.fromkeys(metric for task in study.tasks for metric in study.further(task))
    metrics = [*TESTED, *further, "container_size", "loss_per_update"]
    records = []
    for task in study.tasks:
        for arm in figures.ordered(study.of(task)):
            record = {
                "task": task,
                "variant": arm.label,
                "runs": len(arm.runs),
                "iteration": arm.last_iteration,
            }
            for metric in metrics:
                if arm.has(metric):
                    record.update(
                        zip((metric, f"{metric}_q1", f"{metric}_q3"), quartiles(arm.values(metric)))
                    )
            records.append(record)
    table = pd.DataFrame(records)
    table.to_csv(page.folder / "medians.csv", index=False)
    shown = [metric for metric in metrics if metric in table]

    def value(row: pd.Series, metric: str) -> str:
        if np.isnan(row[metric]):
            return cell("-")
        spread = (
            f"<br>[{number(row[metric + '_q1'])}, {number(row[metric + '_q3'])}]"
            if row["runs"] > 1
            else ""
        )
        return cell(number(row[metric]) + spread)

    page.table(
        [
            "task",
            "variant",
            "runs",
            "iteration",
            *(metric_label(metric, study.arms) for metric in shown),
        ],
        (
            [
                escape(study.title(row["task"])),
                cell(escape(row["variant"]), "name"),
                cell(str(row["runs"])),
                cell(str(row["iteration"])),
                *(value(row, metric) for metric in shown),
            ]
            for _, row in table.iterrows()
        ),
    )
    if study.notes:
        page.add(
            "<h3>Notes</h3><ul>"
            + "".join(f"<li>{escape(note)}</li>" for note in study.notes)
            + "</ul>"
        )


def _parts(arms: Sequence[Arm], main: Sequence[Arm], most: int) -> list[list[Arm]]:
    """Not too many at once, the main ones first."""
    first = sorted(arms, key=lambda arm: arm not in main)
    return [first[i : i + most] for i in range(0, len(first), most)]


def _draw(
    page: Page,
    study: Study,
    name: str,
    caption: str,
    draw: Callable[[list[Arm]], Optional[Figure]],
    most: int = MOST_CURVES,
    choose: Callable[[str], Sequence[Arm]] = lambda task: [],
) -> None:
    """A figure for each task, or several if it has many configurations: all, unless some are
    chosen."""
    for task in study.tasks:
        arms = figures.ordered(choose(task) or study.of(task))
        for some in _parts(arms, study.main(task), most):
            page.figure(f"{name}-{task}", f"{study.title(task)}: {caption}", draw(some))


def _figures(page: Page, study: Study) -> None:
    def progress(metrics: Sequence[str]) -> Callable[[list[Arm]], Optional[Figure]]:
        return lambda arms: figures.progress(arms, metrics, among=study.of(arms[0].task))

    several = len(study.arms) < sum(len(arm.runs) for arm in study.arms)
    page.section(
        "progress",
        "Progress",
        "Median over the replications, and the inter-quartile range as a band." if several else "",
    )
    _draw(
        page,
        study,
        "progress",
        "coverage of the grid, mean of the best fitness in its filled cells, and QD score, the sum "
        "over these cells of how much the best fitness is above the worst there can be.",
        progress(TESTED),
    )

    middle = "The replication with the median coverage." if several else ""
    kinds = {arm.settings.get("container.kind") for arm in study.arms}
    cells = "Of MAP-Elites the cells are shown." if kinds & {"grid", "cvt"} else ""
    voronoi = "Every place is its nearest member's: a run does not keep the centroids."
    containers = [arm.example().container for arm in figures.with_container(study.arms)]
    pictures = any("sensory" in c.columns and c.sensory.ndim == 4 for c in containers)
    walls = "Where pictures are taken from above, what all of them have in common is shown too."
    about = (middle, cells, voronoi if "cvt" in kinds else "", walls if pictures else "")
    page.section("maps", "What was found", " ".join(filter(None, about)))
    _draw(
        page,
        study,
        "maps",
        "individuals in the hand-coded descriptor space, the fittest on top.",
        figures.maps,
        MOST_MAPS,
    )

    page.section("latent", "Descriptor space and latent space")
    _draw(
        page,
        study,
        "latent",
        "hand-coded descriptors beside what was learned in their place; a point has the same "
        "colour wherever it is coloured by ground truth. Of more than two dimensions the first two "
        "principal components, with their shares of the variance; all but the outermost 2 % of "
        "either axis is shown.",
        figures.latent,
        MOST_ROWS,
    )
    for arm in figures.ordered(figures.with_latent_space(study.arms)):
        if arm.dimension == 2 and not arm.retrained:
            page.text(
                f"{study.title(arm.task)}, {arm.label}: not re-trained from scratch. To see it "
                f"beside the run's own: aurora retrain {arm.example().path}",
                "quiet",
            )

    _draw(
        page,
        study,
        "learning",
        "what the encoders had learned at each of their updates: the error on what they were not "
        "trained on, and how much of the hand-coded descriptor, which they never see, a linear "
        "function of the learned one explains.",
        lambda arms: figures.progress(
            arms, ["validation_loss", "truth_r2"], "encoder", study.of(arms[0].task)
        ),
    )

    page.section("reconstructions", "Reconstructions", middle)
    _draw(
        page,
        study,
        "reconstructions",
        "what individuals far from each other sensed, what the encoder of the run makes of it, and "
        "the root mean square of the difference.",
        figures.reconstructions,
        MOST_ROWS,
        study.main,
    )

    page.section(
        "sweeps",
        "Influence of single settings",
        "Configurations that differ in nothing else; median and inter-quartile range.",
    )
    for task in study.tasks:
        for key in study.swept(task):
            page.figure(
                f"sweep-{task}-{SHORT.get(key, key)}",
                f"{study.title(task)}: {key}.",
                figures.sweep(
                    study, task, key, ["coverage", "qd_score", "container_size", "loss_per_update"]
                ),
            )

    paper_figures.sections(page, study)

    page.section("container", "Container size, threshold and time")
    _draw(
        page,
        study,
        "container",
        "container size (dotted: the target) and, of containers that have one, the distance "
        "threshold.",
        progress(["container_size", "threshold"]),
    )
    _draw(page, study, "seconds", "seconds per phase.", figures.seconds, 2 * MOST_CURVES)


def _further(page: Page, study: Study) -> None:
    """Whatever the runs have measured that has no figure yet."""
    page.section(
        "further",
        "Further metrics",
        "What the tasks, the encoders or the users measure besides; median and inter-quartile "
        "range.",
    )
    for task in study.tasks:
        _columns(page, study, task, "metrics", "further", "")
        _columns(page, study, task, "encoder", "encoder", "of the encoder at its updates: ")


def _columns(page: Page, study: Study, task: str, table: str, figure: str, whose: str) -> None:
    """Columns of a table, in figures of not too many panels."""
    names, arms = study.further(task, table), study.of(task)
    for first in range(0, len(names), MOST_PANELS):
        some = names[first : first + MOST_PANELS]
        what = ", ".join(map(metric_name, some))
        for part in _parts(figures.ordered(arms), study.main(task), MOST_CURVES):
            page.figure(
                f"{figure}-{task}",
                f"{study.title(task)}: {whose}{what}.",
                figures.progress(part, some, table, arms),
            )


def _moments(page: Page, study: Study, against: Sequence[str]) -> None:
    held = (
        f" Held against {', '.join(against)}: p is the largest of the rank-sum tests against each "
        "of them, A12 the effect nearest to none; ✓ is better than all of them, ✗ worse, with p "
        f"below {LEVEL:g} in each test (not corrected for the number of rows: moments.csv has "
        "that, too)."
        if against
        else ""
    )
    page.section(
        "moments",
        "On the way",
        "Medians over the replications at a tenth, at three tenths and at the end of the longest "
        f"runs.{held}",
    )
    tables = []
    for task in study.tasks:
        arms = study.of(task)
        if len(arms) < 2:
            continue
        table = moments(study, task, TESTED, against, LEVEL)
        by_place = {(row.variant, row.metric, row.share): row for row in table.itertuples()}
        page.text(study.title(task))
        page.table(
            ["", *(f"{metric_label(m, arms)}, {100 * s:.0f} %" for m in TESTED for s in SHARES)],
            (
                [
                    cell(escape(arm.label), "name"),
                    *(_moment(by_place.get((arm.label, m, s))) for m in TESTED for s in SHARES),
                ]
                for arm in figures.ordered(arms)
            ),
        )
        table.insert(0, "task", task)
        tables.append(table)
    if tables:
        pd.concat(tables).to_csv(page.folder / "moments.csv", index=False)


def _moment(row: Any) -> str:
    if row is None:
        return cell("-")
    p = getattr(row, "p", np.nan)
    if np.isnan(p):
        return cell(number(row.median))
    mark, kind = {BETTER: (" ✓", "number good"), WORSE: (" ✗", "number bad")}.get(
        row.verdict, ("", "number")
    )
    return cell(f"{number(row.median)}{mark}<br>{number(p)}, {row.a12:.2f}", kind)


def _pairs(page: Page, study: Study) -> None:
    page.section(
        "statistics",
        "Statistics",
        "Two-sided Wilcoxon rank-sum tests on all pairs of configurations, exact, ties included, "
        "each at the last point that both have logged. Below the diagonal: p, Holm-Bonferroni "
        "corrected over the pairs (shaded: below 0.05). Above: Vargha and Delaney's A12, the "
        "probability that the configuration of the row has the larger value.",
    )
    tables = []
    for task in study.tasks:
        arms = figures.ordered(arm for arm in study.of(task) if arm.replications >= 2)
        tested = {metric: _tested(arms, metric) for metric in (*TESTED, *study.further(task))}
        tested = {metric: table for metric, table in tested.items() if len(table)}
        _say_if_too_few(page, study, task, max(map(len, tested.values()), default=0))
        for metric, table in tested.items():
            for name, value in (("metric", metric), ("task", task)):
                table.insert(0, name, value)
            tables.append(table)
            page.text(f"{study.title(task)}: {metric_name(metric)}")
            _matrix(page, [arm.label for arm in arms if arm.has(metric)], table)
    if tables:
        pd.concat(tables).to_csv(page.folder / "pairs.csv", index=False)


def _say_if_too_few(page: Page, study: Study, task: str, pairs: int) -> None:
    """Replications, for any of so many pairs to come out below the level."""
    counts = sorted(arm.replications for arm in study.of(task))
    if len(counts) < 2 or pairs and pairs * smallest_p(*counts[-2:]) < LEVEL:
        return
    pairs = pairs or len(list(combinations(counts, 2)))
    page.text(
        f"{study.title(task)}: too few replications for any p below {LEVEL:g}. "
        f"{pairs} pair{'s' * (pairs > 1)} of configurations need{'s' * (pairs == 1)} at least "
        f"{seeds_needed(pairs, LEVEL)} seeds of each."
    )


def _tested(arms: Sequence[Arm], metric: str) -> pd.DataFrame:
    """All pairs that have at least two values each, at the last point that both have logged."""
    clock = clock_of(arms)
    pairs, points = [], []
    for a, b in combinations([arm for arm in arms if arm.has(metric)], 2):
        at = min(a.last(clock), b.last(clock))
        values = [arm.values(metric, at, clock) for arm in (a, b)]
        if min(map(len, values)) >= 2:
            pairs.append((a.label, b.label, values[0], values[1]))
            points.append(at)
    table = compare(pairs)
    table.insert(0, clock, points)
    return table


def _matrix(page: Page, labels: list[str], table: pd.DataFrame) -> None:
    by_pair = {(row.a, row.b): row for row in table.itertuples()}

    def entry(i: int, j: int) -> str:
        if i == j:
            return "<td></td>"
        row = by_pair.get((labels[min(i, j)], labels[max(i, j)]))
        if row is None:
            return cell("-")
        if i < j:
            return cell(f"{row.a12:.2f}")
        return cell(number(row.p_holm), "number below" if row.p_holm < LEVEL else "number")

    page.table(
        ["", *(str(i + 1) for i in range(len(labels)))],
        (
            [cell(f"{i + 1} {escape(label)}", "name"), *(entry(i, j) for j in range(len(labels)))]
            for i, label in enumerate(labels)
        ),
    )


def _claims(page: Page, study: Study) -> None:
    page.section(
        "claims",
        "The claims of the paper",
        "A claim holds if every comparison it makes points the right way with p < 0.05 (rank-sum, "
        "Holm-Bonferroni corrected over the comparisons of the claim); p is the largest and A12 "
        f"the smallest of them. Claims without a test: close coverage is within {CLOSE_COVERAGE:g} "
        f"points, a size near N within {NEAR_TARGET:.0%}.",
    )
    found = verdicts(study)
    told = [v for v in found if any(f.agrees is not None for f in v.findings)]
    if not told:
        return
    short = []
    for task in study.tasks:
        budget = max((arm.settings.get(BUDGET, 0) for arm in study.main(task)), default=0)
        if budget < paper.ITERATIONS.get(task, 0):
            short.append(f"{study.title(task)} {budget:,} of {paper.ITERATIONS[task]:,}")
    if short:
        page.text(
            f"These runs are shorter than the paper's ({'; '.join(short)} iterations): a claim "
            "about the end of the paper's runs need not hold yet."
        )
    page.table(["", "claim", "paper's p", "p", "A12", "verdict"], map(_claim_row, told))
    if len(told) < len(found):
        silent = ", ".join(v.id for v in found if v not in told)
        page.text(f"Nothing can be said here of {silent}: claims.csv has what is missing.", "quiet")
    pd.DataFrame(
        [
            {
                "id": v.id,
                "claim": v.claim,
                "paper_p": v.paper_p,
                "p": v.p,
                "a12": v.effect,
                "verdict": v.verdict,
                "findings": "; ".join(f.what for f in v.findings),
            }
            for v in found
        ]
    ).to_csv(page.folder / "claims.csv", index=False)


def _claim_row(verdict: Verdict) -> list[str]:
    def line(finding: Finding) -> str:
        tested = "" if finding.p is None else f" (p {number(finding.p)}, A12 {finding.effect:.2f})"
        return f"<li>{escape(finding.what)}{tested}</li>"

    lines = "".join(map(line, verdict.findings))
    details = (
        f'<details class="quiet"><summary>{verdict.summary}</summary><ul>{lines}</ul></details>'
    )
    mark, kind = MARKS.get(verdict.verdict, ("·", "quiet"))
    return [
        verdict.id,
        cell(escape(verdict.claim) + details, "name"),
        cell(escape(verdict.paper_p)),
        cell(number(verdict.p)),
        cell(number(verdict.effect)),
        f'<td class="{kind}">{mark} {verdict.verdict}</td>',
    ]


def write_report(study: Study, folder: Path, against: Sequence[str] = ()) -> Path:
    """Writes everything into the folder, which is made if need be, and returns the page's path.
    RunError if there is nobody of the names that others are held `against`."""
    check(study, against)
    folder.mkdir(parents=True, exist_ok=True)
    page = Page(folder)
    _overview(page, study)
    _figures(page, study)
    _further(page, study)
    _moments(page, study, against)
    _pairs(page, study)
    _claims(page, study)
    tasks = ", ".join(study.title(task) for task in study.tasks)
    return page.write(f"AURORA: {tasks}")
