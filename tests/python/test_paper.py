"""Who knows what of the paper."""
from __future__ import annotations

import re
import unittest
from pathlib import Path

import aurora_qd as aurora
from aurora_qd import paper

ABOUT_THE_PAPER = {"claims.py", "paper.py", "paper_figures.py"}


class Names(unittest.TestCase):
    def test_only_what_is_about_the_paper_knows_tasks_by_name(self) -> None:
        modules = sorted(Path(aurora.__file__).parent.glob("**/*.py"))
        self.assertLessEqual(ABOUT_THE_PAPER, {module.name for module in modules})
        names = re.compile(r"maze|hexapod|air.?hockey", re.IGNORECASE)
        for module in modules:
            if module.name not in ABOUT_THE_PAPER:
                with self.subTest(module.name):
                    self.assertIsNone(names.search(module.read_text(encoding="utf-8")))

    def test_the_paper_s_experiments_are_of_its_tasks(self) -> None:
        self.assertEqual(set(paper.ITERATIONS), set(paper.TASKS))


if __name__ == "__main__":
    unittest.main()
