"""Writes a report: report.html, which needs no other file, the figures as PNG and PDF, and the
tables as CSV."""
from __future__ import annotations

import base64
import io
import re
from html import escape
from itertools import count
from pathlib import Path
from typing import Iterable, Optional, Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from . import figures, paper, paper_figures
from .claims import CLOSE_COVERAGE, FAILS, HOLDS, LEVEL, NEAR_TARGET, Finding, Verdict, verdicts
from .statistics import all_pairs, quartiles
from .study import BUDGET, Study

# Those that every task has; the task's own come after them.
TESTED = ("coverage", "grid_mean_fitness")
MOST_PANELS = 8  # of a figure
MARKS = {HOLDS: ("✓", "good"), FAILS: ("✗", "bad")}
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
figure { margin: 1rem 0; } img { max-width: 100%; }
figcaption, .quiet { color: #555; font-size: 90%; }
table { border-collapse: collapse; font-size: 85%; margin: 1rem 0; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #ddd; text-align: left;
         vertical-align: top; }
td.number { text-align: right; white-space: nowrap; } .wide { overflow-x: auto; }
td.below { background: #cfe3f3; }
.good { color: #00664a; font-weight: 600; } .bad { color: #a34700; font-weight: 600; }
"""


class Page:
    """Collects the parts of the page and saves the figures beside it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.parts: list[str] = []
        self._sections: list[tuple[str, str]] = []
        self._names: set[str] = set()

    def section(self, id: str, heading: str, about: str = "") -> None:
        self._sections.append((id, heading))
        self.parts.append(f'<h2 id="{id}">{len(self._sections)}. {escape(heading)}</h2>')
        if about:
            self.text(about)

    def text(self, words: str, kind: str = "") -> None:
        self.parts.append(
            f'<p class="{kind}">{escape(words)}</p>' if kind else f"<p>{escape(words)}</p>"
        )

    def figure(self, name: str, caption: str, figure: Optional[Figure]) -> bool:
        """Nothing if there is no figure; says whether there was one."""
        if figure is None:
            return False
        name = self._file_name(name)
        picture = io.BytesIO()
        figure.savefig(picture, format="png", bbox_inches="tight")
        (self.folder / f"{name}.png").write_bytes(picture.getvalue())
        figure.set_layout_engine("none")  # all is in its place: no need to look for it again
        figure.savefig(
            self.folder / f"{name}.pdf", bbox_inches="tight", metadata={"CreationDate": None}
        )
        plt.close(figure)
        data = base64.b64encode(picture.getvalue()).decode()
        self.parts.append(
            f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )
        return True

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
        self.parts.append(f'<div class="wide"><table><tr>{top}</tr>{body}</table></div>')

    def write(self, heading: str) -> Path:
        links = " · ".join(f'<a href="#{id}">{escape(name)}</a>' for id, name in self._sections)
        path = self.folder / "report.html"
        path.write_text(
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{escape(heading)}</title>"
            f"<style>{STYLE}</style></head><body><h1>{escape(heading)}</h1><p>{links}</p>\n"
            + "\n".join(self.parts)
            + "\n</body></html>\n",
            encoding="utf-8",
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
    page.section(
        "runs",
        "Runs",
        f"{len(runs)} runs. Numbers are medians over the replications with the "
        "inter-quartile range, at the last iteration that all of them have logged.",
    )
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
            f" [{number(row[metric + '_q1'])}, {number(row[metric + '_q3'])}]"
            if row["runs"] > 1
            else ""
        )
        return cell(number(row[metric]) + spread)

    page.table(
        ["task", "variant", "runs", "iteration", *(metric.replace("_", " ") for metric in shown)],
        (
            [
                escape(study.title(row["task"])),
                escape(row["variant"]),
                cell(str(row["runs"])),
                cell(str(row["iteration"])),
                *(value(row, metric) for metric in shown),
            ]
            for _, row in table.iterrows()
        ),
    )
    if study.notes:
        page.parts.append(
            "<h3>Notes</h3><ul>"
            + "".join(f"<li>{escape(note)}</li>" for note in study.notes)
            + "</ul>"
        )


def _per_task(page: Page, study: Study, nothing: str, draw) -> None:
    """draw(task) adds figures and says whether there were any."""
    drawn = [draw(task) for task in study.tasks]
    if not any(drawn):
        page.text(nothing, "quiet")


def _figures(page: Page, study: Study) -> None:
    page.section(
        "progress",
        "Progress of the variants",
        "Median over the replications, and the inter-quartile range as a band.",
    )
    _per_task(
        page,
        study,
        "No run has measured them.",
        lambda task: page.figure(
            f"progress-{task}",
            f"{study.title(task)}: coverage and grid mean fitness.",
            figures.progress(study.main(task), ["coverage", "grid_mean_fitness"]),
        ),
    )

    page.section(
        "containers",
        "Containers in the hand-coded descriptor space",
        "The replication with the median coverage; colour is fitness, the best on top.",
    )
    _per_task(
        page,
        study,
        "No task has two values in its ground truth.",
        lambda task: page.figure(
            f"containers-{task}",
            f"{study.title(task)}: containers.",
            figures.containers(study.main(task)),
        ),
    )

    page.section("latent", "Descriptor space and latent space")
    _per_task(
        page,
        study,
        "No runs with a two-dimensional learned descriptor.",
        lambda task: page.figure(
            f"latent-{task}",
            f"{study.title(task)}: hand-coded descriptors, two-dimensional latent space of the run "
            "and, where there is one, that of an encoder trained from scratch on the same "
            "container (all but the outermost 2 % of either axis); a point has the same colour in "
            "all.",
            figures.latent(study.of(task)),
        ),
    )
    for arm in figures.ordered(figures.two_dimensional(study.arms)):
        if not arm.retrained:
            page.text(
                f"{study.title(arm.task)}, {arm.label}: not re-trained from scratch. To see it "
                f"beside the run's own: aurora retrain {arm.example().path}",
                "quiet",
            )

    page.section(
        "reconstructions",
        "Reconstructions",
        "What a dozen individuals sensed, and what the encoder of the run makes of it. They are "
        "chosen to lie far from each other in the hand-coded descriptor space.",
    )
    _per_task(
        page,
        study,
        "No run has them: the descriptors are hand-coded, or the version was too old.",
        lambda task: page.figure(
            f"reconstructions-{task}",
            f"{study.title(task)}: sensory data and reconstructions, the replication with the "
            "median coverage.",
            figures.reconstructions(study.main(task)),
        ),
    )

    if any(task in paper.TASKS for task in study.tasks):
        paper_figures.sections(page, study)

    page.section(
        "latent-size",
        "Influence of the latent size",
        "Variants that were run with several; median and inter-quartile range.",
    )
    _per_task(
        page,
        study,
        "No runs that differ in the latent size alone.",
        lambda task: page.figure(
            f"latent-size-{task}",
            f"{study.title(task)}: container size, coverage and container loss by latent size.",
            figures.latent_sizes(study, task),
        ),
    )

    page.section("periods", "Influence of T_C and T_E")
    _per_task(
        page,
        study,
        "No runs that differ in T_C or T_E alone.",
        lambda task: page.figure(
            f"periods-{task}",
            f"{study.title(task)}: coverage by container-update period and encoder step.",
            figures.update_periods(study, task),
        ),
    )

    page.section("container", "Container size, threshold and time")
    _per_task(
        page,
        study,
        "",
        lambda task: page.figure(
            f"container-{task}",
            f"{study.title(task)}: container size (dotted: the target) and, of containers that "
            "have one, the distance threshold.",
            figures.progress(study.main(task), ["container_size", "threshold"]),
        )
        | page.figure(
            f"seconds-{task}",
            f"{study.title(task)}: seconds per phase, median over the replications.",
            figures.seconds(study.main(task)),
        ),
    )


def _further(page: Page, study: Study) -> None:
    """Whatever the runs have measured that has no figure yet."""
    page.section(
        "further",
        "Further metrics",
        "What the tasks, the encoders or the users measure besides, of all configurations; median "
        "and inter-quartile range.",
    )

    def draw(task: str) -> bool:
        drawn = paper.METRICS.get(task, ())
        metrics = [metric for metric in study.further(task) if metric not in drawn]
        return _columns(page, study, task, metrics, "metrics", "further") | _columns(
            page, study, task, study.further(task, "encoder"), "encoder", "encoder"
        )

    _per_task(page, study, "There are none.", draw)


def _columns(
    page: Page, study: Study, task: str, names: Sequence[str], table: str, figure: str
) -> bool:
    """Columns of a table, in figures of not too many panels."""
    for first in range(0, len(names), MOST_PANELS):
        some = names[first : first + MOST_PANELS]
        what = ", ".join(name.replace("_", " ") for name in some)
        whose = "of the encoder at its updates: " if table == "encoder" else ""
        page.figure(
            f"{figure}-{task}",
            f"{study.title(task)}: {whose}{what}.",
            figures.progress(study.of(task), some, table),
        )
    return bool(names)


def _pairs(page: Page, study: Study) -> None:
    page.section(
        "statistics",
        "Statistics",
        "Two-sided Wilcoxon rank-sum tests on all pairs of variants, exact, ties included. Below "
        "the diagonal: p, Holm-Bonferroni corrected over the pairs (shaded: below 0.05). Above: "
        "Vargha and Delaney's A12, the probability that the variant of the row has the larger "
        "value.",
    )
    tables = []
    for task in study.tasks:
        arms = figures.ordered(arm for arm in study.main(task) if arm.replications >= 2)
        for metric in (*TESTED, *study.further(task)):
            having = [arm for arm in arms if arm.has(metric)]
            at = min((arm.last_iteration for arm in having), default=0)
            having = [arm for arm in having if len(arm.values(metric, at)) >= 2]
            if len(having) < 2:
                continue
            table = all_pairs({arm.label: arm.values(metric, at) for arm in having})
            for name, value in (("iteration", at), ("metric", metric), ("task", task)):
                table.insert(0, name, value)
            tables.append(table)
            page.text(f"{study.title(task)}: {metric.replace('_', ' ')} at iteration {at}")
            _matrix(page, [arm.label for arm in having], table)
    if tables:
        pd.concat(tables).to_csv(page.folder / "pairs.csv", index=False)
    else:
        page.text("No task has two variants with two finished replications each.", "quiet")


def _matrix(page: Page, labels: list[str], table: pd.DataFrame) -> None:
    by_pair = {(row.a, row.b): row for row in table.itertuples()}

    def entry(i: int, j: int) -> str:
        if i == j:
            return "<td></td>"
        row = by_pair[labels[min(i, j)], labels[max(i, j)]]
        if i < j:
            return cell(f"{row.a12:.2f}")
        return cell(number(row.p_holm), "number below" if row.p_holm < LEVEL else "number")

    page.table(
        ["", *(str(i + 1) for i in range(len(labels)))],
        (
            [f"{i + 1} {escape(label)}", *(entry(i, j) for j in range(len(labels)))]
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
    found = verdicts(study)
    if any(task in paper.TASKS for task in study.tasks):
        page.table(
            ["", "claim", "paper's p", "p", "A12", "verdict"],
            (_claim_row(verdict) for verdict in found),
        )
    else:
        page.text("None of these tasks is in the paper.", "quiet")
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
        escape(verdict.claim) + details,
        cell(escape(verdict.paper_p)),
        cell(number(verdict.p)),
        cell(number(verdict.effect)),
        f'<td class="{kind}">{mark} {verdict.verdict}</td>',
    ]


def write_report(study: Study, folder: Path) -> Path:
    """Writes everything into the folder, which is made if need be, and returns the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    page = Page(folder)
    _overview(page, study)
    _figures(page, study)
    _further(page, study)
    _pairs(page, study)
    _claims(page, study)
    tasks = ", ".join(study.title(task) for task in study.tasks)
    return page.write(f"AURORA: {tasks}")
