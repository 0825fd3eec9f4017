// Box2D times the parts of every step, for a profile that nobody reads here: ten readings of the
// clock a step, a fifth of the time of an episode. These definitions stand before those of
// libbox2d.so in the order in which symbols are looked up, and read no clock; as this library is
// loaded for itself alone, nobody else's Box2D sees them.
#include <box2d/b2_timer.h>

b2Timer::b2Timer() = default;

void b2Timer::Reset() {}

float b2Timer::GetMilliseconds() const {
  return 0;
}
