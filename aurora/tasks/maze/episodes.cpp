// A robot to a lane of a vector register: a step of 16 robots (4 or 8, on lesser processors) is one
// straight run of vector instructions, its look-ups gathers. The code follows robot.cpp line by
// line; see there for what a step is, and functions.hpp for the functions.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aurora/tasks/maze/episodes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aurora/tasks/maze/episodes.hpp"

#ifndef AURORA_TASKS_MAZE_EPISODES_ONCE
#define AURORA_TASKS_MAZE_EPISODES_ONCE
namespace aurora::maze {

/// Bumpers without comparing a heading with all 16 directions. The circle is cut into bins that
/// hold at most one direction each, well inside; a bin's angle decides between the sectors around
/// it.
struct BumperTables {
  static constexpr int kBins = 33;
  static constexpr float kBinsPerRadian = 32 / (2 * kPi);

  /// The bin of a heading; vector code does the same.
  static int bin_of(float heading) {
    return static_cast<int>((heading + kPi) * kBinsPerRadian + 0.5F);
  }

  BumperTables();

  alignas(64) float angles[kBins];          // of the direction in a bin, or beyond all headings
  alignas(64) std::int32_t sectors[kBins];  // of headings before that angle
  alignas(64) std::int32_t touches[kBins];  // by sector: directions on the left, and << 16 right
};

/// All that stays the same during an episode, as vector code sees it.
struct World {
  const std::int32_t* touched;
  const std::int32_t* rays;
  const std::int32_t* steps;
  const std::int32_t* stops;
  std::int32_t tile_size;
  const BumperTables* bumpers;
};

}  // namespace aurora::maze
#endif

HWY_BEFORE_NAMESPACE();
namespace aurora::maze::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using VI = hn::Vec<DI>;
using M = hn::Mask<D>;
constexpr std::size_t kWidth = hn::MaxLanes(D());
constexpr D d;
constexpr DI di;

HWY_INLINE V num(float x) {
  return hn::Set(d, x);
}
HWY_INLINE VI num(std::int32_t x) {
  return hn::Set(di, x);
}

/// a b + c, rounded twice: never fused.
HWY_INLINE V mul_add(V a, V b, V c) {
  return hn::Add(hn::Mul(a, b), c);
}

HWY_INLINE V tanh_of(V x) {
  x = hn::Min(hn::Max(x, num(-kTanhLimit)), num(kTanhLimit));
  const V u = hn::Mul(x, x);
  V p = num(kTanhP[4]);
  V q = num(kTanhQ[4]);
  for (std::size_t i = 4; i-- > 0;) {
    p = mul_add(p, u, num(kTanhP[i]));
    q = mul_add(q, u, num(kTanhQ[i]));
  }
  return hn::Div(hn::Mul(x, p), q);
}

/// Rounded to the nearest integer, halves away from zero.
HWY_INLINE VI round_away(V x) {
  return hn::ConvertTo(di, hn::Add(x, hn::CopySignToAbs(num(0.5F), x)));
}

HWY_INLINE VI pixel_index(V c) {
  return round_away(hn::Mul(c, num(kPixelsPerUnit)));
}

struct Directions {
  V cos;
  V sin;
};

HWY_INLINE Directions direction_of(V angle) {
  const VI k = round_away(hn::Mul(angle, num(2 / kPi)));
  const V n = hn::ConvertTo(d, k);
  const V r =
      hn::Sub(hn::Sub(angle, hn::Mul(n, num(kQuarterTurn))), hn::Mul(n, num(kQuarterTurnRest)));
  const V u = hn::Mul(r, r);
  const V s = mul_add(mul_add(num(kSin[2]), u, num(kSin[1])), u, num(kSin[0]));
  const V c = mul_add(mul_add(num(kCos[2]), u, num(kCos[1])), u, num(kCos[0]));
  const V sin = hn::Add(r, hn::Mul(hn::Mul(r, u), s));
  const V cos = hn::Add(hn::Sub(num(1.0F), hn::Mul(num(0.5F), u)), hn::Mul(hn::Mul(u, u), c));
  const M swapped = hn::RebindMask(d, hn::TestBit(k, num(1)));
  const VI sign = num(INT32_MIN);
  const VI cos_sign = hn::And(hn::ShiftLeft<30>(hn::Add(k, num(1))), sign);
  const VI sin_sign = hn::And(hn::ShiftLeft<30>(k), sign);
  return {hn::Xor(hn::IfThenElse(swapped, sin, cos), hn::BitCast(d, cos_sign)),
          hn::Xor(hn::IfThenElse(swapped, cos, sin), hn::BitCast(d, sin_sign))};
}

/// The state of a register full of robots.
struct Robots {
  V x, y, heading;
  V lasers[3], left_bumper, right_bumper;
  V hidden[Controller::kHidden];
  V fitness;
};

HWY_INLINE Robots at_start() {
  Robots robots;
  robots.x = num(kStartX);
  robots.y = num(kStartY);
  robots.heading = num(Pose().heading);
  for (V& laser : robots.lasers) laser = num(kLaserRange);
  robots.left_bumper = robots.right_bumper = hn::Zero(d);
  for (V& value : robots.hidden) value = hn::Zero(d);
  robots.fitness = hn::Zero(d);
  return robots;
}

/// The robots' controllers, numbers in the order of the genes: [gene][robot].
struct Controllers {
  alignas(64) float values[kGenes][kWidth];

  HWY_INLINE V at(std::size_t gene) const { return hn::Load(d, values[gene]); }
};
constexpr std::size_t kW2 = Controller::kInputs * Controller::kHidden;
constexpr std::size_t kB1 = kW2 + Controller::kHidden * Controller::kOutputs;
constexpr std::size_t kB2 = kB1 + Controller::kHidden;

/// What the bumpers feel, as 0 or 1, of robots that collided: `touched` is not 0.
HWY_INLINE void feel(const BumperTables& tables, VI touched, V heading, V& left, V& right) {
  const VI bin = hn::ConvertTo(
      di, mul_add(hn::Add(heading, num(kPi)), num(BumperTables::kBinsPerRadian), num(0.5F)));
  const V angle = hn::GatherIndex(d, tables.angles, bin);
  VI sector = hn::GatherIndex(di, tables.sectors, bin);
  const VI one = num(1);
  sector = hn::Add(sector, hn::IfThenElseZero(hn::RebindMask(di, hn::Lt(angle, heading)), one));
  sector = hn::Add(sector, hn::IfThenElseZero(hn::RebindMask(di, hn::Le(angle, heading)), one));
  const VI touches = hn::GatherIndex(di, tables.touches, sector);
  const VI felt = hn::And(hn::Or(touched, hn::ShiftLeft<16>(touched)), touches);
  const VI zero = hn::Zero(di);
  const V on = num(1.0F);
  const auto is_left = hn::Ne(hn::And(felt, num(0xFFFF)), zero);
  const auto is_right = hn::Ne(hn::ShiftRight<16>(felt), zero);
  left = hn::IfThenElseZero(hn::RebindMask(d, is_left), on);
  right = hn::IfThenElseZero(hn::RebindMask(d, is_right), on);
}

/// A laser's reading, for a ray that leaves pixel (i, j) at (x, y) towards (cos, sin). `place` is
/// where the pixel's rays begin in the table.
HWY_INLINE V read_laser(const World& world, V x, V y, VI i, VI j, VI place, V cos, V sin) {
  const V range = num(kLaserRange);
  const VI end_i = hn::Sub(pixel_index(hn::Add(x, hn::Mul(range, cos))), i);
  const VI end_j = hn::Sub(pixel_index(hn::Add(y, hn::Mul(range, sin))), j);
  constexpr std::int32_t kMiddle = kMaxSteps * RayTable::kSide + kMaxSteps;
  // 69 j = 64 j + 4 j + j.
  static_assert(RayTable::kSide == 69);
  const VI row = hn::Add(hn::Add(hn::ShiftLeft<6>(end_j), hn::ShiftLeft<2>(end_j)), end_j);
  const VI ray = hn::GatherIndex(di, world.rays + kMiddle, hn::Add(row, end_i));

  const VI byte = hn::Add(place, hn::And(ray, num(0xFFFF)));
  const VI word = hn::GatherIndex(di, world.steps, hn::ShiftRight<2>(byte));
  const VI bits = hn::ShiftLeft<3>(hn::And(byte, num(3)));
  const VI steps = hn::And(hn::Shr(word, bits), num(0xFF));

  const VI stop = hn::GatherIndex(di, world.stops, hn::Add(hn::ShiftRight<16>(ray), steps));
  const VI hit_i = hn::Add(i, hn::ShiftRight<16>(hn::ShiftLeft<16>(stop)));
  const VI hit_j = hn::Add(j, hn::ShiftRight<16>(stop));
  const V dx = hn::Sub(hn::Mul(num(kPixelSize), hn::ConvertTo(d, hit_i)), x);
  const V dy = hn::Sub(hn::Mul(num(kPixelSize), hn::ConvertTo(d, hit_j)), y);
  return hn::Min(hn::Sqrt(mul_add(dx, dx, hn::Mul(dy, dy))), range);
}

HWY_INLINE void step(const World& world, const Controllers& controllers, Robots& robots) {
  // The controller: outputs from the hidden values of the step before, then new hidden values.
  V out[Controller::kOutputs];
  for (std::size_t o = 0; o < Controller::kOutputs; ++o) {
    V sum = controllers.at(kB2 + o);
    for (std::size_t h = 0; h < Controller::kHidden; ++h) {
      sum = mul_add(controllers.at(kW2 + o * Controller::kHidden + h), robots.hidden[h], sum);
    }
    out[o] = tanh_of(sum);
  }
  const V inputs[Controller::kInputs] = {robots.lasers[0], robots.lasers[1], robots.lasers[2],
                                         robots.left_bumper, robots.right_bumper};
  for (std::size_t h = 0; h < Controller::kHidden; ++h) {
    V sum = controllers.at(kB1 + h);
    for (std::size_t i = 0; i < Controller::kInputs; ++i) {
      sum = mul_add(controllers.at(h * Controller::kInputs + i), inputs[i], sum);
    }
    robots.hidden[h] = tanh_of(sum);
  }
  robots.fitness = hn::Sub(robots.fitness, mul_add(out[0], out[0], hn::Mul(out[1], out[1])));

  // The arc.
  const V left = hn::Mul(num(kMaxSpeed), out[0]);
  const V right = hn::Mul(num(kMaxSpeed), out[1]);
  const V turn = hn::Mul(hn::Sub(right, left), num(1 / kWheelSeparation));
  const V half = hn::Mul(turn, num(0.5F));
  const V u = hn::Mul(half, half);
  const V one = num(1.0F);
  const V sinc = mul_add(mul_add(num(kSmallSinc[1]), u, num(kSmallSinc[0])), u, one);
  const V cos = mul_add(mul_add(num(kSmallCos[1]), u, num(kSmallCos[0])), u, one);
  const V sin = hn::Mul(half, sinc);
  const V distance = hn::Mul(hn::Mul(hn::Add(left, right), num(0.5F)), sinc);
  const Directions chord = direction_of(hn::Add(robots.heading, half));
  const V facing_cos = hn::Sub(hn::Mul(chord.cos, cos), hn::Mul(chord.sin, sin));
  const V facing_sin = mul_add(chord.sin, cos, hn::Mul(chord.cos, sin));
  V heading = hn::Add(robots.heading, turn);
  const V full_turn = num(2 * kPi);
  heading = hn::Sub(heading, hn::IfThenElseZero(hn::Gt(heading, num(kPi)), full_turn));
  heading = hn::Add(heading, hn::IfThenElseZero(hn::Lt(heading, num(-kPi)), full_turn));
  robots.heading = heading;

  // A collision undoes the translation.
  const V target_x = mul_add(distance, chord.cos, robots.x);
  const V target_y = mul_add(distance, chord.sin, robots.y);
  VI i = pixel_index(target_x);
  VI j = pixel_index(target_y);
  // 200 j = 128 j + 64 j + 8 j.
  static_assert(kMapSize == 200);
  const VI row = hn::Add(hn::Add(hn::ShiftLeft<7>(j), hn::ShiftLeft<6>(j)), hn::ShiftLeft<3>(j));
  const VI touched = hn::GatherIndex(di, world.touched, hn::Add(row, i));
  const auto collided_i = hn::Ne(touched, hn::Zero(di));
  robots.left_bumper = hn::Zero(d);
  robots.right_bumper = hn::Zero(d);
  V x = target_x;
  V y = target_y;
  if (!hn::AllFalse(di, collided_i)) {
    const M collided = hn::RebindMask(d, collided_i);
    x = hn::IfThenElse(collided, robots.x, x);
    y = hn::IfThenElse(collided, robots.y, y);
    i = pixel_index(x);
    j = pixel_index(y);
    feel(*world.bumpers, touched, heading, robots.left_bumper, robots.right_bumper);
  }
  robots.x = x;
  robots.y = y;

  // Lasers.
  static_assert(RayTable::kTile == 4 && RayTable::kTilesPerRow == 50);
  const VI tile_j = hn::ShiftRight<2>(j);
  const VI tile = hn::Add(hn::Add(hn::ShiftLeft<5>(tile_j), hn::ShiftLeft<4>(tile_j)),
                          hn::Add(hn::ShiftLeft<1>(tile_j), hn::ShiftRight<2>(i)));
  const VI in_tile =
      hn::Add(hn::ShiftLeft<4>(hn::And(j, num(3))), hn::ShiftLeft<2>(hn::And(i, num(3))));
  const VI place = hn::Add(hn::Mul(tile, num(world.tile_size)), in_tile);
  constexpr float kDiagonal = std::numbers::sqrt2_v<float> / 2;
  const V c = facing_cos;
  const V s = facing_sin;
  const V k = num(kDiagonal);
  const V sum = hn::Mul(hn::Add(c, s), k);
  const V difference = hn::Mul(hn::Sub(c, s), k);
  robots.lasers[0] = read_laser(world, x, y, i, j, place, difference, sum);
  robots.lasers[1] = read_laser(world, x, y, i, j, place, c, s);
  robots.lasers[2] = read_laser(world, x, y, i, j, place, sum, hn::Neg(difference));
}

/// Writes down where the robots are. Inlined, so that they stay in registers.
HWY_INLINE void keep(const Robots& robots, std::size_t sample, std::span<History> histories) {
  alignas(64) float values[5][kWidth];
  hn::Store(robots.x, d, values[0]);
  hn::Store(robots.y, d, values[1]);
  for (std::size_t i = 0; i < 3; ++i) hn::Store(robots.lasers[i], d, values[2 + i]);
  for (std::size_t n = 0; n < histories.size(); ++n) {
    histories[n][sample] = {values[0][n], values[1][n], {values[2][n], values[3][n], values[4][n]}};
  }
}

/// Runs the episodes of at most kWidth robots; lanes without one repeat the first.
void run_lanes(const World& world, MatrixView<const float> genotypes, std::span<Episode> episodes,
               std::span<History> histories) {
  Controllers controllers;
  for (std::size_t lane = 0; lane < kWidth; ++lane) {
    const std::span<const float> genes = genotypes.row(lane < genotypes.rows() ? lane : 0);
    for (std::size_t gene = 0; gene < kGenes; ++gene) {
      controllers.values[gene][lane] = Controller::value(genes, gene);
    }
  }
  Robots robots = at_start();
  static_assert(kSamples * kStepsPerSample == kSteps);
  for (std::size_t sample = 0; sample < kSamples; ++sample) {
    for (std::size_t t = 0; t < kStepsPerSample; ++t) step(world, controllers, robots);
    if (!histories.empty()) keep(robots, sample, histories);
  }

  alignas(64) float ends[4][kWidth];
  hn::Store(robots.x, d, ends[0]);
  hn::Store(robots.y, d, ends[1]);
  hn::Store(robots.heading, d, ends[2]);
  hn::Store(robots.fitness, d, ends[3]);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    episodes[n] = {{ends[0][n], ends[1][n], ends[2][n]}, ends[3][n]};
  }
}

void run_all(const World& world, MatrixView<const float> genotypes, std::span<Episode> episodes,
             std::span<History> histories) {
  for (std::size_t begin = 0; begin < genotypes.rows(); begin += kWidth) {
    const std::size_t count = std::min(kWidth, genotypes.rows() - begin);
    run_lanes(world, genotypes.slice(begin, count), episodes.subspan(begin, count),
              histories.empty() ? histories : histories.subspan(begin, count));
  }
}

}  // namespace aurora::maze::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aurora::maze {

HWY_EXPORT(run_all);

BumperTables::BumperTables() {
  for (int bin = 0; bin < kBins; ++bin) {
    angles[bin] = 2 * kPi;
    sectors[bin] = 0;
    for (const float angle : kDirectionAngles) {
      if (bin_of(angle) == bin) angles[bin] = angle;
      if (bin_of(angle) < bin) sectors[bin] += 2;
    }
  }
  // Even sectors lie between two directions, odd ones are a direction; ask for a heading in each.
  for (int sector = 0; sector < kBins; ++sector) {
    const auto before = static_cast<std::size_t>(sector / 2);
    const float lower = before == 0 ? -kPi : kDirectionAngles[before - 1];
    const float upper = before == kDirections ? kPi : kDirectionAngles[before];
    const float heading = sector % 2 == 1 ? upper : (lower + upper) / 2;
    touches[sector] = 0;
    for (int direction = 0; direction < kDirections; ++direction) {
      const std::int32_t bit = 1 << direction;
      const Bumpers felt = bumpers(static_cast<std::uint16_t>(bit), heading);
      if (felt.left) touches[sector] |= bit;
      if (felt.right)
        touches[sector] |= static_cast<std::int32_t>(static_cast<std::uint32_t>(bit) << 16);
    }
  }
}

void run_episodes(const Map& map, const RayTable& rays, MatrixView<const float> genotypes,
                  std::span<Episode> episodes, std::span<History> histories) {
  static const BumperTables kBumpers;
  for (std::size_t n = 0; n < genotypes.rows(); ++n) Controller::check(genotypes.row(n));
  const World world{map.touched(), rays.rays(),      rays.packed_steps(),
                    rays.stops(),  rays.tile_size(), &kBumpers};
  HWY_DYNAMIC_DISPATCH(run_all)(world, genotypes, episodes, histories);
}

}  // namespace aurora::maze
#endif
