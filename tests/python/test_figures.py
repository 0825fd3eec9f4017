"""What is on the axes of figures, on runs of tasks and variants that nobody has heard of."""
from __future__ import annotations

import unittest
from types import SimpleNamespace
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from aurora import Axis, figures, load_many
from aurora.drawing import OTHERS, STYLES, looks, metric_label, style, text
from aurora.study import Arm, Study
from tiny import InFolder, as_format_1, as_format_2, make_run


def words(figure: Figure) -> list[str]:
    """Of the legend."""
    return [entry.get_text() for legend in figure.legends for entry in legend.get_texts()]


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
            for figure in (figures.containers(arms), figures.latent(arms)):
                panel = figure.axes[0]
                self.assertEqual((panel.get_xlabel(), panel.get_ylabel()), ("x (cm)", "y (cm)"))
                self.assertEqual(panel.yaxis_inverted(), inverted)
                self.assertFalse(panel.xaxis_inverted())
                self.assertEqual(sorted(panel.get_ylim()), [0, 600])
                self.assertEqual(panel.get_aspect(), 1)

    def test_axes_of_different_units_have_scales_of_their_own(self) -> None:
        panel = figures.containers(self.arms({"axes": [("cm", "up"), ("s", "up")]})).axes[0]
        self.assertEqual(panel.get_aspect(), "auto")
        self.assertEqual(panel.get_ylabel(), "y (s)")

    def test_format_1_has_neither(self) -> None:
        arms = Study(load_many([as_format_1(self.copy(self.learned))])).arms
        panel = figures.containers(arms).axes[0]
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
            figures.containers(arms),
            figures.reconstructions(arms),
            figures.progress(arms, ["coverage", "container_size"]),
        ):
            self.assertIsNotNone(figure)

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

    def test_arms_of_a_variant_differ_in_their_markers(self) -> None:
        arms = [Arm("", "a", {}, [], label, "a") for label in ("a", "a (n = 2)")]
        first, second = looks(arms).values()
        self.assertEqual(first["color"], second["color"])
        self.assertNotEqual(first["marker"], second["marker"])


if __name__ == "__main__":
    unittest.main()
