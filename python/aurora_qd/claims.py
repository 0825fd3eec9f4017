"""The paper's claims, each one a test on the runs at hand."""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Callable, Iterable, Optional

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr

from .paper import TASKS
from .runs import Container
from .statistics import a12, holm, rank_sum, smallest_p
from .study import DIMENSION, T_C, T_E, Arm, Study

LEVEL = 0.05
HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "not enough data"
CSC = ("aurora-csc-uniform", "aurora-csc-novelty", "aurora-csc-surprise")
AURORA = (*CSC, "aurora-vat-uniform", "aurora-vat-novelty")
HAND_CODED = "hc-csc-uniform"
# What the claims without a p mean by "close", "near" and "correlates".
CLOSE_COVERAGE = 3.0  # points of coverage
NEAR_TARGET = 0.1  # of N
CORRELATED = 0.3  # rank correlation of the distances between individuals
SAMPLE = 1000  # individuals looked at for it, and for the next
NEIGHBOURS = 10  # of each, in the hand-coded space


@dataclass(frozen=True)
class Finding:
    """One comparison of a claim, or one reason why there is none."""

    what: str
    agrees: Optional[bool] = None  # with the claim; None if it cannot be said
    p: Optional[float] = None
    effect: Optional[float] = None  # A12, above 0.5 where the claim is right
    smallest: float = 0.0  # the smallest p that so many replications can give


@dataclass
class Verdict:
    id: str
    claim: str
    paper_p: str
    findings: list[Finding] = field(default_factory=list)
    verdict: str = UNKNOWN

    @property
    def p(self) -> Optional[float]:
        return max((f.p for f in self.findings if f.p is not None), default=None)

    @property
    def effect(self) -> Optional[float]:
        return min((f.effect for f in self.findings if f.effect is not None), default=None)

    @property
    def summary(self) -> str:
        agree = sum(f.agrees is True for f in self.findings)
        differ = sum(f.agrees is False for f in self.findings)
        unknown = sum(f.agrees is None for f in self.findings)
        return f"{agree} agree, {differ} differ, {unknown} unknown"


def greater(
    metric: str,
    high: Optional[Arm],
    low: Optional[Arm],
    names: tuple[str, str],
    task: str,
    iteration: Optional[int] = None,
) -> Finding:
    """Whether the first arm has the larger values: at an iteration, or at the last common one."""
    what = f"{task}: {metric.replace('_', ' ')} of {names[0]} > {names[1]}"
    if high is None or low is None:
        return Finding(f"{what}: no runs of {names[0] if high is None else names[1]}")
    for arm, name in zip((high, low), names):
        if not arm.has(metric):
            return Finding(f"{what}: {name} has no {metric}")
    last = min(high.last_iteration, low.last_iteration)
    if iteration is not None and last < iteration:
        return Finding(f"{what}: ends at iteration {last}, the claim is about {iteration}")
    at = last if iteration is None else iteration
    return _compare(
        what,
        high.values(metric, at),
        low.values(metric, at),
        at,
        min(high.replications, low.replications) >= 2,
    )


def _compare(what: str, high: np.ndarray, low: np.ndarray, iteration: int, enough: bool) -> Finding:
    if not len(high) or not len(low):
        return Finding(f"{what}: not measured by iteration {iteration}")
    medians = f"{np.median(high):.4g} against {np.median(low):.4g} at iteration {iteration}"
    if not enough:
        return Finding(f"{what}: {medians}; fewer than two replications")
    effect = a12(high, low)
    return Finding(
        f"{what}: {medians}",
        effect > 0.5,
        rank_sum(high, low),
        effect,
        smallest_p(len(high), len(low)),
    )


def named(
    study: Study,
    task: str,
    metric: str,
    highs: Iterable[str],
    lows: Iterable[str],
    iteration: Optional[int] = None,
) -> list[Finding]:
    """Every family of the first list against every one of the second."""
    return [
        greater(metric, study.find(task, high), study.find(task, low), (high, low), task, iteration)
        for high in highs
        for low in lows
    ]


def judge(verdict: Verdict) -> Verdict:
    """Corrects the p-values over the comparisons of the claim. It holds if all of them agree, those
    that are tested with p < 0.05. It does not hold if one of them points the other way, or agrees
    without p < 0.05, unless there are too few replications for p < 0.05 anyhow."""
    tested = [f.p for f in verdict.findings if f.p is not None]
    corrected = iter(holm(tested))
    findings = [
        f if f.p is None else replace(f, p=float(next(corrected))) for f in verdict.findings
    ]

    def contradicts(f: Finding) -> bool:
        if f.agrees and f.p is not None:
            return f.p >= LEVEL and f.smallest * len(tested) < LEVEL
        return f.agrees is False and f.smallest < LEVEL

    def supports(f: Finding) -> bool:
        return bool(f.agrees) and (f.p is None or f.p < LEVEL)

    verdict.findings = findings
    if any(map(contradicts, findings)):
        verdict.verdict = FAILS
    elif findings and all(map(supports, findings)):
        verdict.verdict = HOLDS
    return verdict


def _sweep(
    study: Study, task: str, family: str, key: str, what: str
) -> tuple[dict[int, Arm], list[Finding]]:
    arms = study.sweep(task, family, key)
    return arms, [] if arms else [Finding(f"{task}: no runs of {family} that differ in {what}")]


def c2(study: Study) -> list[Finding]:
    findings = []
    for task in TASKS:
        ours, theirs = study.find(task, CSC[0]), study.find(task, HAND_CODED)
        if ours is None or theirs is None:
            findings.append(Finding(f"{task}: no runs of {CSC[0] if ours is None else HAND_CODED}"))
            continue
        at = min(ours.last_iteration, theirs.last_iteration)
        values = [arm.values("coverage", at) for arm in (ours, theirs)]
        if not all(map(len, values)):
            findings.append(Finding(f"{task}: coverage was not measured by iteration {at}"))
            continue
        a, b = (float(np.median(measured)) for measured in values)
        enough = min(ours.replications, theirs.replications) >= 2
        findings.append(
            Finding(
                f"{task}: {a:.4g} % against {b:.4g} % at iteration {at}; close is within "
                f"{CLOSE_COVERAGE:g} points",
                abs(a - b) <= CLOSE_COVERAGE if enough else None,
            )
        )
    return findings


def c3(study: Study) -> list[Finding]:
    return named(
        study, "hexapod", "coverage", ["ns"], [*CSC, "taxons", HAND_CODED, "random-search"]
    )


def c5(study: Study) -> list[Finding]:
    arm, what = (
        study.find("hexapod", CSC[2]),
        f"hexapod: coverage of {CSC[2]} at iteration 5000 > at the end",
    )
    if arm is None:
        return [Finding(f"{what}: no runs")]
    if arm.last_iteration <= 5000:
        return [Finding(f"{what}: the runs end at iteration {arm.last_iteration}")]
    return [
        _compare(
            what,
            arm.values("coverage", 5000),
            arm.values("coverage"),
            arm.last_iteration,
            arm.replications >= 2,
        )
    ]


def c8(study: Study) -> list[Finding]:
    arms, findings = _sweep(study, "hexapod", CSC[0], DIMENSION, "n")
    hand_coded = study.find("hexapod", HAND_CODED)
    return findings + [
        greater("orientation_coverage", arm, hand_coded, (f"{CSC[0]}-{n}", HAND_CODED), "hexapod")
        for n, arm in arms.items()
        if n > 2
    ]


def c9(study: Study) -> list[Finding]:
    arms, findings = _sweep(study, "hexapod", CSC[0], DIMENSION, "n")
    return findings + [
        greater(
            "orientation_coverage", arm, arms.get(2), (f"{CSC[0]}-{n}", f"{CSC[0]}-2"), "hexapod"
        )
        for n, arm in arms.items()
        if n > 2
    ]


def c11(study: Study) -> list[Finding]:
    findings = []
    for task in TASKS:
        for family in (CSC[0], AURORA[3]):
            arms, missing = _sweep(study, task, family, DIMENSION, "n")
            findings += missing
            for n, arm in arms.items():
                vat = family == AURORA[3]
                if vat and n <= 4:
                    continue
                ratio = float(np.median(arm.values("container_size"))) / arm.target_size
                near = abs(ratio - 1) <= NEAR_TARGET
                findings.append(
                    Finding(
                        f"{task}: {family}-{n} holds {ratio:.2f} N; near is within "
                        f"{NEAR_TARGET:.0%}",
                        near != vat if arm.replications >= 2 else None,
                    )
                )
    return findings


def c12(study: Study) -> list[Finding]:
    findings = []
    for task in TASKS:
        csc, missing = _sweep(study, task, CSC[0], DIMENSION, "n")
        vat, missing_too = _sweep(study, task, AURORA[3], DIMENSION, "n")
        findings += missing + missing_too
        findings += [
            greater("coverage", csc[n], arm, (f"{CSC[0]}-{n}", f"{AURORA[3]}-{n}"), task)
            for n, arm in vat.items()
            if n > 4 and n in csc
        ]
    return findings


def c14(study: Study) -> list[Finding]:
    findings = []
    for task in TASKS:
        arms, missing = _sweep(study, task, CSC[0], T_C, "T_C")
        findings += missing or [
            greater("coverage", arms.get(10), arms.get(500), ("T_C = 10", "T_C = 500"), task)
        ]
    return findings


def c15(study: Study) -> list[Finding]:
    arms, findings = _sweep(study, "hexapod", CSC[0], T_E, "T_E")
    return findings + [
        greater("coverage", arms.get(10), arm, ("T_E = 10", f"T_E = {value}"), "hexapod")
        for value, arm in arms.items()
        if value > 100
    ]


def _sample(container: Container) -> np.ndarray:
    return np.random.default_rng(1).permutation(len(container))[:SAMPLE]


def latent_correlation(arm: Arm) -> float:
    """How well distances between latent vectors tell distances between hand-coded descriptors:
    their rank correlation, median over the replications; NaN if fewer than two have a container."""
    found = []
    for run in arm.runs:
        if not (run.finished and run.has_container):
            continue
        container, rows = run.container, _sample(run.container)
        latent, truth = container.descriptors[rows], container.ground_truth[rows, :2]
        found.append(spearmanr(pdist(latent), pdist(truth))[0])
    return float(np.median(found)) if len(found) >= 2 else np.nan


def entanglement(container: Container, descriptors: np.ndarray) -> float:
    """How far apart in latent space those are who are close in the hand-coded one: the mean place
    of an individual's hand-coded neighbours in the order of latent distances, as a share of all.
    0.5 if the two spaces have nothing to do with each other."""
    rows = _sample(container)
    latent, truth = (
        squareform(pdist(values[rows])) for values in (descriptors, container.ground_truth[:, :2])
    )
    places = latent.argsort(axis=1).argsort(axis=1)
    neighbours = truth.argsort(axis=1)[:, 1 : NEIGHBOURS + 1]  # the first is itself
    return float(np.take_along_axis(places, neighbours, axis=1).mean() / len(rows))


def untangled(arm: Arm) -> Finding:
    """Whether re-training from scratch brings neighbours together: the same runs, before and
    after."""
    runs = arm.retrained
    if not runs:
        advice = "" if arm.example().is_digest else f"; aurora retrain {arm.example().path}"
        return Finding(f"{arm.task}: not re-trained from scratch{advice}")
    before = [entanglement(run.container, run.container.descriptors) for run in runs]
    again = [(run, run.retrained) for run in runs]
    after = [
        entanglement(run.container, made.descriptors) for run, made in again if made is not None
    ]
    a, b = float(np.median(before)), float(np.median(after))
    return Finding(
        f"{arm.task}: hand-coded neighbours are on average at {100 * a:.1f} % of the latent "
        f"distances, {100 * b:.1f} % after re-training from scratch ({len(runs)} run(s))",
        b < a if len(runs) >= 2 else None,
    )


def c17(study: Study) -> list[Finding]:
    findings = []
    retraining = Finding(f"{TASKS[0]}: no runs of {CSC[0]}-2 to re-train from scratch")
    for task in TASKS:
        arm = next(
            (a for a in study.arms if a.task == task and a.family == CSC[0] and a.dimension == 2),
            None,
        )
        if arm is None:
            findings.append(Finding(f"{task}: no runs of {CSC[0]}-2"))
            continue
        if task == TASKS[0]:
            retraining = untangled(arm)
        correlation = latent_correlation(arm)
        findings.append(
            Finding(
                f"{task}: rank correlation of the distances {correlation:.2f}; "
                f"correlated is {CORRELATED} or more",
                correlation >= CORRELATED if np.isfinite(correlation) else None,
            )
        )
    return [*findings, retraining]


def _tasks(make: Callable[[str], list[Finding]], tasks: Iterable[str]) -> list[Finding]:
    return [finding for task in tasks for finding in make(task)]


CLAIMS: list[tuple[str, str, str, Callable[[Study], list[Finding]]]] = [
    (
        "C1",
        "AURORA-CSC-* reaches higher coverage than TAXONS in Air-Hockey",
        "< 3e-6",
        lambda s: named(s, "air-hockey", "coverage", CSC, ["taxons"]),
    ),
    (
        "C2",
        "AURORA-CSC-uniform's coverage is close to HC-CSC-uniform's in all three tasks",
        "-",
        c2,
    ),
    ("C3", "NS has the highest coverage in Hexapod", "< 2e-6", c3),
    (
        "C4",
        "The novelty and surprise selectors beat the uniform one in coverage at iteration 1000 in "
        "Maze and Hexapod",
        "< 2e-6",
        lambda s: _tasks(lambda t: named(s, t, "coverage", CSC[1:], CSC[:1], 1000), TASKS[:2]),
    ),
    (
        "C5",
        "The surprise selector's coverage falls in Hexapod after 5,000 iterations",
        "< 4e-2",
        c5,
    ),
    (
        "C6",
        "In Air-Hockey HC-CSC-uniform has a better grid mean fitness than AURORA-CSC-*",
        "< 2e-6",
        lambda s: named(s, "air-hockey", "grid_mean_fitness", [HAND_CODED], CSC),
    ),
    (
        "C7",
        "NS and TAXONS have a worse grid mean fitness than AURORA-CSC-*",
        "< 2e-2",
        lambda s: _tasks(lambda t: named(s, t, "grid_mean_fitness", CSC, ["ns", "taxons"]), TASKS),
    ),
    (
        "C8",
        "AURORA-CSC-uniform-n with n > 2 has a wider orientation coverage than HC-CSC-uniform in "
        "Hexapod",
        "< 2e-3",
        c8,
    ),
    ("C9", "n = 2 has a lower orientation coverage than n > 2", "< 5e-3", c9),
    (
        "C10",
        "AURORA-CSC-uniform's trajectory diversity is higher than HC-CSC-uniform's in Air-Hockey",
        "< 2e-6",
        lambda s: named(s, "air-hockey", "trajectory_diversity", CSC[:1], [HAND_CODED]),
    ),
    ("C11", "CSC keeps the container size near N for every n; VAT does not for n > 4", "-", c11),
    ("C12", "For n > 4 the coverage with VAT is lower than with CSC", "< 4e-4", c12),
    (
        "C13",
        "Container loss per update: VAT below CSC in Air-Hockey, above CSC in Maze and Hexapod",
        "< 5e-5, < 1e-5",
        lambda s: named(s, "air-hockey", "loss_per_update", CSC[:1], AURORA[3:4])
        + _tasks(lambda t: named(s, t, "loss_per_update", AURORA[3:4], CSC[:1]), TASKS[:2]),
    ),
    ("C14", "T_C = 500 gives lower coverage than T_C = 10", "< 3e-4", c14),
    ("C15", "T_E > 100 gives lower coverage in Hexapod", "< 2e-2", c15),
    (
        "C16",
        "Every AURORA-CSC variant covers more than Random Search in Maze and, but for the surprise "
        "selector, in Hexapod",
        "-",
        lambda s: named(s, "maze", "coverage", CSC, ["random-search"])
        + named(s, "hexapod", "coverage", CSC[:2], ["random-search"]),
    ),
    (
        "C17",
        "The two-dimensional latent space correlates with the hand-coded BD; re-training from "
        "scratch untangles it in Maze",
        "-",
        c17,
    ),
]


def verdicts(study: Study) -> list[Verdict]:
    return [judge(Verdict(id, claim, p, find(study))) for id, claim, p, find in CLAIMS]
