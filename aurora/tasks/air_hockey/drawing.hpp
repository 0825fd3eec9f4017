// How an episode of the Air-Hockey arm looks.
#pragma once

#include <span>

#include "aurora/pictures/image.hpp"
#include "aurora/tasks/air_hockey/table.hpp"

namespace aurora::air_hockey {

/// The table from above, y up, with the arm at several moments (faint at first, dark at last) and
/// the puck's path, blue at first and orange at last, from where it appears (a ring) to its end.
Drawing draw_episode(std::span<const Moment> moments);

/// The table within its bounds, with a ring where the puck appears.
Image draw_backdrop();

}  // namespace aurora::air_hockey
