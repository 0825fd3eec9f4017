// Plots of sensory data that is no picture.
#pragma once

#include <cstddef>
#include <span>

#include "aurora/pictures/image.hpp"

namespace aurora {

/// A sequence of steps x values, row by row. Draws every value over the steps in a colour of its
/// own; of two values also, beside it, the path that they make in the plane. `again`, empty or of
/// the same size, is drawn over it as thin dark lines. There are numbers along the axes, and a
/// legend. Values that are not finite leave a gap.
Image plot_sequence(std::span<const float> sequence, std::size_t values,
                    std::span<const float> again);

}  // namespace aurora
