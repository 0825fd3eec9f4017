// A small canvas: lines, discs, rings and convex polygons with smooth edges.
//
// Places are in coordinates of the drawn world, radii and line widths in pixels. What lies outside
// the picture is cut off, and what is nowhere (NaN, infinite) is not drawn.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "aurora/pictures/image.hpp"

namespace aurora {

struct Place {
  double x = 0;
  double y = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

/// World coordinates at the edges of a picture. Either axis may run either way.
struct Window {
  double left = 0;
  double right = 1;
  double top = 0;
  double bottom = 1;
};

class Canvas {
 public:
  Canvas(std::size_t width, std::size_t height, const Window& window, Colour background = kWhite);

  /// With round ends.
  void line(Place from, Place to, double width, Colour colour, double opacity = 1);
  void disc(Place centre, double radius, Colour colour, double opacity = 1);
  /// The outline of a disc; `radius` is that of its middle.
  void ring(Place centre, double radius, double width, Colour colour, double opacity = 1);
  /// Corners in order, either way round; convex.
  void polygon(std::span<const Place> corners, Colour colour, double opacity = 1);

  /// How many pixels a length along x takes.
  double pixels(double length) const;

  const Image& image() const { return image_; }

 private:
  Place to_pixels(Place place) const;
  template <class Distance>
  void fill(Place low, Place high, Colour colour, double opacity, Distance distance);

  Image image_;
  Window window_;
};

/// The colour of a moment, from 0 (blue) over violet to 1 (orange); dark enough for white paper.
Colour time_colour(double moment);

/// Lines along places that follow each other at equal intervals, in the colours of
/// their moments: the first has moment 0, the last 1.
void draw_path(Canvas& canvas, std::span<const Place> places, double width);

/// Piece number `index` of that path, from places[index] to the next.
void draw_path_piece(Canvas& canvas, std::span<const Place> places, std::size_t index,
                     double width);

}  // namespace aurora
