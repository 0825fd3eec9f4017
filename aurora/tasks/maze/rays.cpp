#include "aurora/tasks/maze/rays.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace aurora::maze {
namespace {

/// Can a laser that starts in pixel (0, 0) end in this one? Start and end are rounded to pixels, so
/// the end lies less than one pixel away from the circle of the range, along each axis.
bool is_laser_end(Pixel end) {
  constexpr float kRadius = kLaserRange / kPixelSize;
  const int i = std::abs(end.i);
  const int j = std::abs(end.j);
  const auto square = [](int a, int b) { return static_cast<float>(a * a + b * b); };
  return square(std::max(i - 1, 0), std::max(j - 1, 0)) < kRadius * kRadius &&
         square(i + 1, j + 1) > kRadius * kRadius;
}

/// A pixel that a ray looks at in its step number `step`, as a displacement in the map's rows.
struct Look {
  std::ptrdiff_t displacement;
  std::uint8_t step;

  friend bool operator==(const Look&, const Look&) = default;
};

std::vector<Look> looks_of(Pixel end) {
  std::vector<Look> looks;
  std::uint8_t number = 0;
  for (const RayStep& step : ray_steps(end)) {
    ++number;
    for (int n = 0; n < step.looks; ++n) {
      const Pixel p = step.looked_at[static_cast<std::size_t>(n)];
      looks.push_back({p.j * Map::kPitch + p.i, number});
    }
  }
  return looks;
}

/// A byte for each pixel of a row of the map.
using Row = std::array<std::uint8_t, kMapSize>;

/// For each start pixel the first step that has looked at a wall, after one look more. Free pixels
/// are 0xFF and walls 0x00, so that a look's number stays where there is a wall.
void take_look(const std::uint8_t* seen, std::uint8_t step, const Row& before, Row& after) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    after[i] = std::min<std::uint8_t>(before[i], seen[i] | step);
  }
}

/// The first hits of all rays, from one row of start pixels. Neighbours in angle begin with the
/// same looks, which are taken once.
class FirstHits {
 public:
  explicit FirstHits(const std::vector<Pixel>& ends) {
    for (const Pixel end : ends) {
      std::vector<Look> looks = looks_of(end);
      std::size_t shared = 0;
      if (!rays_.empty()) {
        const std::vector<Look>& last = rays_.back().looks;
        shared = static_cast<std::size_t>(std::ranges::mismatch(looks, last).in1 - looks.begin());
      }
      rays_.push_back({std::move(looks), shared});
      after_.resize(std::max(after_.size(), rays_.back().looks.size() + 1));
    }
    after_[0].fill(kNoHit);
  }

  /// Ray by ray, in their order.
  const Row& next(std::size_t ray, const std::uint8_t* free_row) {
    const auto& [looks, shared] = rays_[ray];
    for (std::size_t n = shared; n < looks.size(); ++n) {
      take_look(free_row + looks[n].displacement, looks[n].step, after_[n], after_[n + 1]);
    }
    return after_[looks.size()];
  }

 private:
  struct Ray {
    std::vector<Look> looks;
    std::size_t shared;  // with the ray before
  };
  std::vector<Ray> rays_;
  std::vector<Row> after_;  // so many looks
};

constexpr std::size_t kRaysInWord = 4;
using FourRays = std::array<Row, kRaysInWord>;

std::int32_t word_of(const FourRays& rays, std::size_t i) {
  return rays[0][i] | rays[1][i] << 8 | rays[2][i] << 16 | rays[3][i] << 24;
}

}  // namespace

std::vector<RayStep> ray_steps(Pixel end) {
  // Work in (major, minor) coordinates with both differences positive; put back at the end.
  const bool y_major = std::abs(end.j) >= std::abs(end.i);
  const int sign_i = end.i < 0 ? -1 : 1;
  const int sign_j = end.j < 0 ? -1 : 1;
  const int length = std::max(std::abs(end.i), std::abs(end.j));
  const int rise = std::min(std::abs(end.i), std::abs(end.j));
  const auto pixel = [&](int major, int minor) {
    return y_major ? Pixel{sign_i * minor, sign_j * major} : Pixel{sign_i * major, sign_j * minor};
  };

  std::vector<RayStep> steps;
  int minor = 0;
  // Height of the line above the lower border of the current row, in units of 1 / (2 length).
  int height = length;
  for (int major = 1; major <= length; ++major) {
    const int previous = height;
    height += 2 * rise;
    RayStep step;
    const auto look = [&](Pixel p) { step.looked_at[static_cast<std::size_t>(step.looks++)] = p; };
    if (height > 2 * length) {
      // On the border between the columns the line is halfway between the two heights.
      const int twice_border = previous + height;
      if (twice_border <= 4 * length) look(pixel(major, minor));
      if (twice_border >= 4 * length) look(pixel(major - 1, minor + 1));
      ++minor;
      height -= 2 * length;
    }
    step.at = pixel(major, minor);
    look(step.at);
    steps.push_back(step);
  }
  return steps;
}

int walk_ray(const Map& map, Pixel start, Pixel end) {
  int number = 0;
  for (const RayStep& step : ray_steps(end)) {
    ++number;
    for (int n = 0; n < step.looks; ++n) {
      const Pixel p = step.looked_at[static_cast<std::size_t>(n)];
      if (map.wall({start.i + p.i, start.j + p.j})) return number;
    }
  }
  return kNoHit;
}

RayTable::RayTable(const Map& map) {
  for (int j = -kMaxSteps; j <= kMaxSteps; ++j) {
    for (int i = -kMaxSteps; i <= kMaxSteps; ++i) {
      if (is_laser_end({i, j})) ends_.push_back({i, j});
    }
  }
  std::ranges::stable_sort(ends_, {}, [](Pixel p) { return std::atan2(p.j, p.i); });

  const auto count = static_cast<std::int32_t>(ends_.size());
  tile_size_ = (count + kGroup - 1) / kGroup * (kTile * kTile * kGroup);
  rays_.assign(kSide * kSide, 0);
  constexpr std::int32_t kFarAway = 127 << 16 | 127;
  stops_.assign(ends_.size() * kStops, kFarAway);
  for (std::int32_t ray = 0; ray < count; ++ray) {
    const Pixel end = ends_[static_cast<std::size_t>(ray)];
    const std::int32_t place = ray / kGroup * (kTile * kTile * kGroup) + ray % kGroup;
    const auto first_stop = static_cast<std::int32_t>(kStops) * ray;
    rays_[ray_index(end)] = first_stop << 16 | place;
    auto stop = stops_.begin() + first_stop;
    for (const RayStep& step : ray_steps(end)) *++stop = step.at.j * 0x10000 | (step.at.i & 0xFFFF);
  }
  fill_steps(map);
}

void RayTable::fill_steps(const Map& map) {
  static_assert(Map::kMargin >= kMaxSteps && kMapSize % kTile == 0 && kGroup == kRaysInWord);
  steps_.resize(static_cast<std::size_t>(kTilesPerRow * kTilesPerRow * tile_size_) / 4);
  FirstHits hits(ends_);
  // A row of start pixels at a time, four rays at a time.
  FourRays group{};
  for (int j = 0; j < kMapSize; ++j) {
    for (std::size_t ray = 0; ray < ends_.size(); ++ray) {
      group[ray % kGroup] = hits.next(ray, map.free_row(0, j));
      if (ray % kGroup != kGroup - 1 && ray + 1 != ends_.size()) continue;
      const std::int32_t first = rays_[ray_index(ends_[ray - ray % kGroup])] & 0xFFFF;
      for (int i = 0; i < kMapSize; i += kTile) {
        std::int32_t* const words = steps_.data() + (pixel_place({i, j}) + first) / 4;
        for (int n = 0; n < kTile; ++n) words[n] = word_of(group, static_cast<std::size_t>(i + n));
      }
    }
  }
}

}  // namespace aurora::maze
