"""What is on the axes of figures, on runs of tasks and variants that nobody has heard of."""
from __future__ import annotations

import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from aurora_qd import Axis, Container, figures, load_many
from aurora_qd.drawing import OTHERS, STYLES, looks, metric_label, style, text
from aurora_qd.study import Arm, Study
from tiny import InFolder, as_format_1, as_format_2, make_run


def words(figure: Figure) -> list[str]:
    """Of the legend."""
    return [entry.get_text() for legend in figure.legends for entry in legend.get_texts()]


class Changed:
    """A container with other columns than its own."""

    def __init__(self, container: Container, **changes: Any):
        self.count = len(container)
        for name in ("sensory", "ground_truth", "bounds", "space"):
            setattr(self, name, changes.get(name, getattr(container, name)))

    def __len__(self) -> int:
        return self.count


class Figures(InFolder):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.learned = make_run(cls.folder, "maze", "aurora-csc-uniform-2", 1)
        cls.hand_coded = make_run(cls.folder, "maze", "hc-csc-uniform", 1)
        cls.population = make_run(cls.folder, "maze", "ns", 1)

    def tearDown(self) -> None:
        plt.close("all")

    def arms(self, *changes: dict[str, Any]) -> list[Arm]:
        """Of three variants of one task, each as a newer version would have written it."""
        made = (self.learned, self.hand_coded, self.population)
        paths = [
            as_format_2(self.copy(run), **{"task": "juggling", **change})
            for run, change in zip(made, changes)
        ]
        loaded = load_many(paths)
        self.assertEqual(loaded.problems, [])
        return Study(loaded).of("juggling")

    def test_an_axis_has_a_unit_and_a_direction(self) -> None:
        for directions, inverted in ((("up", "down"), True), (("down", "up"), False)):
            arms = self.arms({"axes": [("cm", directions[0]), ("cm", directions[1])]})
            for figure in (figures.maps(arms), figures.latent(arms)):
                panel = figure.axes[0]
                self.assertEqual((panel.get_xlabel(), panel.get_ylabel()), ("x (cm)", "y (cm)"))
                self.assertEqual(panel.yaxis_inverted(), inverted)
                self.assertFalse(panel.xaxis_inverted())
                self.assertEqual(sorted(panel.get_ylim()), [0, 600])
                self.assertEqual(panel.get_aspect(), 1)

    def test_axes_of_different_units_have_scales_of_their_own(self) -> None:
        panel = figures.maps(self.arms({"axes": [("cm", "up"), ("s", "up")]})).axes[0]
        self.assertEqual(panel.get_aspect(), "auto")
        self.assertEqual(panel.get_ylabel(), "y (s)")

    def test_format_1_has_neither(self) -> None:
        arms = Study(load_many([as_format_1(self.copy(self.learned))])).arms
        panel = figures.maps(arms).axes[0]
        self.assertEqual((panel.get_xlabel(), panel.get_ylabel()), ("x", "y"))
        self.assertFalse(panel.yaxis_inverted())
        self.assertEqual(panel.get_aspect(), 1)
        self.assertEqual(metric_label("coverage", arms), "coverage (%)")

    def test_a_metric_has_a_name_and_a_unit(self) -> None:
        arms = self.arms({"metrics": {"grip_force": 2.0}, "units": {"grip_force": "N"}})
        panel = figures.progress(arms, ["grip_force"]).axes[0]
        self.assertEqual(panel.get_ylabel(), "grip force (N)")
        self.assertEqual(panel.lines[0].get_ydata()[-1], 2)
        self.assertEqual(metric_label("energy", arms), "energy")

    def test_only_those_that_have_a_metric_are_drawn(self) -> None:
        arms = self.arms(
            {"variant": "first", "metrics": {"energy": 1.0}},
            {"variant": "second", "without": ["threshold"]},
            {"variant": "third", "metrics": {"zeal": 1.0}},
        )
        figure = figures.progress(arms, ["threshold", "energy", "zeal", "unheard_of"])
        names = [[line.get_label() for line in panel.lines] for panel in figure.axes]
        self.assertEqual(names, [["first"], ["first"], ["third"]])
        # One legend for all, in which a variant has one colour.
        self.assertEqual(words(figure), ["first", "third"])
        colours = {line.get_color() for panel in figure.axes[:2] for line in panel.lines}
        self.assertEqual(len(colours), 1)
        self.assertNotEqual(figure.axes[2].lines[0].get_color(), colours.pop())
        without = self.arms({"without": ["threshold"]})
        self.assertIsNone(figures.progress(without, ["threshold"]))

    def test_values_of_an_encoder_are_drawn_at_its_updates(self) -> None:
        arms = self.arms({"encoder": {"kl": 0.5}}, {})
        figure = figures.progress(arms, ["kl"], "encoder")
        (line,) = figure.axes[0].lines
        self.assertEqual((line.get_xdata().tolist(), line.get_ydata().tolist()), ([10], [0.5]))
        self.assertNotIn(line.get_marker(), ("", "None"))  # a single point would not be seen

    def test_a_path_lies_in_the_hand_coded_space_only_if_it_fits(self) -> None:
        path = np.array([[0.0, 1.0], [1.0, 2.0]])
        wide, narrow = Axis("x", 0, 5, "m"), Axis("y", 0, 1.5, "m")
        down = Axis("y", 0, 4, "m", "down")
        for space, limits in (
            ([wide, down], (4, 0)),
            ([wide, narrow], None),
            ([wide, Axis("heading", 0, 4, "rad")], None),
            ([wide], None),
        ):
            with self.subTest(space):
                bounds = np.array([[axis.min, axis.max] for axis in space])
                panel = plt.figure().add_subplot()
                figures._sequence(panel, path, path, SimpleNamespace(space=space, bounds=bounds))
                if limits:
                    self.assertEqual(panel.get_ylim(), limits)
                else:  # just around the path
                    self.assertLess(panel.get_ylim()[1], 2.5)
                    self.assertGreater(panel.get_ylim()[0], 0.5)

    def test_nothing_needs_the_coverage(self) -> None:
        arms = self.arms({"without": ["coverage", "threshold"]})
        for figure in (
            figures.maps(arms),
            figures.reconstructions(arms),
            figures.progress(arms, ["coverage", "container_size"]),
        ):
            self.assertIsNotNone(figure)

    def test_one_map_alone_is_large_and_has_the_walls(self) -> None:
        one, three = figures.maps(self.arms({})), figures.maps(self.arms({}, {}, {}))
        self.assertGreater(one.get_figwidth(), 0.5 * three.get_figwidth())
        walls = one.axes[0].images[-1].get_array()
        self.assertEqual(walls.shape, (64, 64, 4))
        # The outer walls are there, and the floor lets the points through.
        self.assertGreater(walls[[0, -1], :, 3].min(), 0.4)
        self.assertEqual(np.median(np.asarray(walls)[..., 3]), 0)
        self.assertTrue(one.axes[0].yaxis_inverted())

    def test_walls_are_shown_only_of_pictures_from_above(self) -> None:
        container = self.arms({})[0].example().container
        behind = figures.seen_from_above(container)
        for change, seen in (
            ({}, True),
            ({"ground_truth": container.ground_truth[::-1]}, False),
            ({"sensory": container.sensory[:, :, ::-1]}, False),
            ({"sensory": container.sensory[:, :, :, 0]}, False),
        ):
            with self.subTest(list(change)):
                found = figures.seen_from_above(Changed(container, **change))
                self.assertEqual(found is not None, seen)
        # An axis that goes up has its largest values in the first row of the picture.
        space = [Axis("x", 0, 600), Axis("y", 0, 600)]
        up = Changed(container, sensory=container.sensory[:, ::-1], space=space)
        np.testing.assert_array_equal(figures.seen_from_above(up), behind)

    def test_map_elites_is_drawn_as_cells(self) -> None:
        for variant in ("map-elites", "cvt-map-elites"):
            with self.subTest(variant):
                run = make_run(self.folder, "maze", variant, 1, "container.target_size=64")
                (arm,) = Study(load_many([run])).arms
                container = arm.example().container
                cells = figures.cell_values(arm, container)
                panel = figures.maps([arm]).axes[0]
                self.assertEqual(len(panel.collections), 0)  # no points
                x, y = ((container.ground_truth[:, :2]) / 600 * len(cells)).astype(int).T
                np.testing.assert_array_equal(cells[y, x], container.fitness)
                if variant == "map-elites":
                    self.assertEqual(cells.shape, (8, 8))
                    self.assertEqual(np.isfinite(cells).sum(), len(container))
        self.assertIsNone(figures.cell_values(*self.example(self.learned)))

    def example(self, run: Path) -> tuple[Arm, Any]:
        (arm,) = Study(load_many([run])).arms
        return arm, arm.example().container

    def test_a_latent_space_of_any_dimension_is_drawn(self) -> None:
        wide = make_run(self.folder, "maze", "aurora-csc-uniform-5", 1)
        line = make_run(self.folder, "maze", "aurora-csc-uniform-1", 1)
        for run, names in (
            (wide, r"principal component 2 \(\d+ %\)"),
            (self.learned, "latent 2"),
            (line, "^$"),
        ):
            with self.subTest(run.name):
                figure = figures.latent([self.example(run)[0]])
                panels = figure.axes[:3]
                self.assertRegex(panels[1].get_ylabel(), names)
                self.assertIn("fitness", panels[2].get_title())
                truth, fitness = (panel.collections[0].get_array() for panel in panels[1:])
                np.testing.assert_array_equal(fitness, self.example(run)[1].fitness)
                self.assertEqual(len(truth), len(fitness))
        self.assertIsNone(figures.latent([self.example(self.hand_coded)[0]]))

    def test_principal_components_are_those_of_the_largest_variance(self) -> None:
        random = np.random.default_rng(3)
        flat = random.normal(size=(200, 2)) * [5, 2]
        turn, _ = np.linalg.qr(random.normal(size=(6, 6)))
        found, names = figures.principal_components(flat @ turn[:2] + 7)
        variances = np.linalg.eigvalsh(np.cov(flat.T))[::-1]
        np.testing.assert_allclose(found.var(axis=0, ddof=1), variances)
        shares = [round(100 * part) for part in variances / variances.sum()]
        self.assertEqual(names, [f"principal component {i + 1} ({shares[i]} %)" for i in (0, 1)])
        self.assertEqual(figures.principal_components(np.ones((1, 6)))[0].tolist(), [[0, 0]])

    def test_reconstructions_are_large_and_tell_their_errors(self) -> None:
        arm, container = self.example(self.learned)
        figure = figures.reconstructions([arm])
        figure.canvas.draw()
        made = arm.example().reconstructions
        panels = [axes for strip in figure.subfigs for axes in strip.axes if axes.images]
        self.assertEqual(len(panels), 2 * len(made))
        for axes in panels:
            self.assertGreater(axes.get_window_extent().width / figure.dpi, 1.2)  # inches
        place = np.searchsorted(container.ids, made.ids[0])
        apart = container.sensory[place] / 255 - made["reconstructions"][0]
        error = f"error {np.sqrt((apart**2).mean()):.3g}"
        self.assertIn(error, [axes.get_xlabel() for axes in panels])

    def test_batches_of_different_sizes_are_drawn_by_evaluations(self) -> None:
        larger = make_run(self.folder, "maze", "ns", 1, "run.batch=16")
        arms = Study(load_many([self.population, larger])).arms
        for some, name in ((arms, "evaluations"), (arms[:1], "iterations")):
            panel = figures.progress(some, ["coverage"]).axes[0]
            self.assertEqual(panel.get_xlabel(), name)
        panel = figures.progress(arms, ["coverage"]).axes[0]
        self.assertEqual(sorted(line.get_xdata()[-1] for line in panel.lines), [24 * 8, 24 * 16])

    def test_names_are_shown_as_they_are(self) -> None:
        arms = self.arms({"variant": "_cheap $10$"})
        figure = figures.progress(arms, ["coverage"])
        self.assertEqual(words(figure), [r" _cheap \$10\$"])
        figure.canvas.draw()
        self.assertEqual(text("plain"), "plain")


class Looks(unittest.TestCase):
    def test_no_two_strangers_look_alike(self) -> None:
        names = [f"variant {i}" for i in range(len(OTHERS))]
        shown = {tuple(style(name, [*names, *STYLES]).values()) for name in [*names, *STYLES]}
        self.assertEqual(len(shown), len(names) + len(STYLES))
        self.assertGreaterEqual(len(names), 16)

    def test_no_two_arms_look_alike(self) -> None:
        arms = [Arm("", "ns", {}, [], f"ns {i}", "ns") for i in range(3 * len(OTHERS))]
        shown = [tuple(look.values()) for look in looks(arms).values()]
        self.assertEqual(len(set(shown)), len(arms))

    def test_the_paper_s_latent_size_looks_as_the_variant_does(self) -> None:
        def arm(dimension: int) -> Arm:
            settings = {"descriptor.kind": "learned", "descriptor.dimension": dimension}
            return Arm("", "taxons", settings, [], f"taxons {dimension}", "taxons")

        shown = looks([arm(2), arm(10), arm(20)])
        self.assertEqual(shown["taxons 10"]["color"], STYLES["taxons"][0])
        self.assertNotEqual(shown["taxons 2"], shown["taxons 10"])


if __name__ == "__main__":
    unittest.main()
