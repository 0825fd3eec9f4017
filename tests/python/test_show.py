"""Films as other programs see them: those of Pillow, where it is installed."""
from __future__ import annotations

import unittest

import numpy as np

from tiny import InFolder, aurora, make_run

try:
    from PIL import Image, ImageSequence
except ModuleNotFoundError:
    Image = None


@unittest.skipIf(Image is None, "Pillow is not installed")
class Films(InFolder):
    def test_a_gif_shows_what_the_animated_png_shows(self) -> None:
        run = make_run(self.folder, "maze", "hc-csc-uniform", 1, iterations=4)
        films = {}
        for kind in ("apng", "gif"):
            done = aurora("show", run, "--film", kind, "--out", self.folder / kind)
            self.assertEqual(done.returncode, 0, done.stderr)
            (path,) = (self.folder / kind).glob("*-film.*")
            with Image.open(path) as film:
                self.assertEqual(film.format, {"apng": "PNG", "gif": "GIF"}[kind])
                self.assertTrue(film.is_animated)
                self.assertEqual(film.info["loop"], 0)
                films[kind] = [
                    np.asarray(frame.convert("RGB"), int) for frame in ImageSequence.Iterator(film)
                ]
        self.assertGreater(len(films["gif"]), 10)
        # Equal frames in a row may be joined by who reads them; the first and the last stay.
        for place in (0, -1):
            distance = np.abs(films["apng"][place] - films["gif"][place])
            self.assertLess(distance.mean(), 1)
            self.assertLess(distance.max(), 64)


if __name__ == "__main__":
    unittest.main()
