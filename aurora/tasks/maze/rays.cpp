#include "aurora/tasks/maze/rays.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

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

/// For each start pixel of a row of the map, the first step that looks at a wall. From the last
/// look back to the first, so that earlier ones prevail; eight pixels at a time, since free pixels
/// (0xFF) and walls (0x00) are masks.
void first_hits(const std::uint8_t* free_row, const std::vector<Look>& looks, std::uint8_t* steps) {
  constexpr std::uint64_t kEveryByte = 0x0101010101010101U;
  std::array<std::uint64_t, kMapSize / 8> first;
  static_assert(sizeof first == kMapSize);
  first.fill(kNoHit * kEveryByte);
  for (auto look = looks.rbegin(); look != looks.rend(); ++look) {
    const std::uint8_t* seen = free_row + look->displacement;
    const std::uint64_t number = look->step * kEveryByte;
    for (std::size_t n = 0; n < first.size(); ++n) {
      std::uint64_t free = 0;
      std::memcpy(&free, seen + 8 * n, sizeof free);
      first[n] = (first[n] & free) | (number & ~free);
    }
  }
  std::memcpy(steps, first.data(), sizeof first);
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
  static_assert(Map::kMargin >= kMaxSteps && kMapSize % kTile == 0);
  static_assert(std::endian::native == std::endian::little);
  std::vector<std::vector<Look>> looks;
  for (const Pixel end : ends_) looks.push_back(looks_of(end));

  // A row of start pixels at a time, ray by ray.
  steps_.resize(static_cast<std::size_t>(kTilesPerRow * kTilesPerRow * tile_size_) / 4);
  auto* bytes = reinterpret_cast<std::uint8_t*>(steps_.data());
  std::array<std::uint8_t, kMapSize> row;
  for (int j = 0; j < kMapSize; ++j) {
    for (std::size_t ray = 0; ray < ends_.size(); ++ray) {
      first_hits(map.free_row(0, j), looks[ray], row.data());
      std::uint8_t* out = bytes + (rays_[ray_index(ends_[ray])] & 0xFFFF);
      for (int i = 0; i < kMapSize; ++i)
        out[pixel_place({i, j})] = row[static_cast<std::size_t>(i)];
    }
  }
}

}  // namespace aurora::maze
