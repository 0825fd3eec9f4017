// How a vase looks.
#pragma once

#include "aurora/pictures/image.hpp"
#include "aurora/tasks/vases/vase.hpp"

namespace aurora::vases {

/// As potters draw it: cut open on the left, from outside on the right, with its centre of mass as
/// a ring. The film tilts it until it is about to fall.
Drawing draw_vase(const Profile& profile);

}  // namespace aurora::vases
