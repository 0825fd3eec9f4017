// How much training does an encoder update need? Compares mini-batch policies with the 100
// full-batch Adam steps of the reference, from the same initial weights, on pictures like the
// Maze's: three updates in a row on a growing container, as in a run. The error is the mean squared
// error in scaled space on the held-out quarter, the same pictures for every policy.
//
//   training_curve [threads] [BATCH:EPOCHS:PATIENCE ...]      BATCH 0: all in one step
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/encoders/autoencoder.hpp"

namespace {

using namespace aurora;

constexpr std::size_t kSide = 64;
constexpr std::size_t kDimension = 10;
constexpr std::array<std::size_t, 3> kUpdates = {1000, 3000, 8000};
constexpr double kWorld = 600, kPixel = kWorld / kSide, kRadius = 10;

struct Wall {
  double x0, y0, x1, y1, thickness;
};
constexpr std::array kWalls = {
    Wall{0, 132.6, 174, 145.8, 18.3},   Wall{174, 145, 384, 81, 16.2},
    Wall{380, 81, 397.5, 81, 15},       Wall{174, 138, 174, 457.5, 15},
    Wall{174, 304.4, 460, 464.3, 13.7}, Wall{256, 256, 600, 435, 13.5},
    Wall{0, 212, 106, 347, 16.1},       Wall{214, 597, 322.5, 472.5, 14.7}};

/// Whether a disc at (x, y) touches a wall or the border.
bool blocked(double x, double y, double radius) {
  if (std::min(x, y) - radius < 7.5 || std::max(x, y) + radius > 589.5) return true;
  return std::ranges::any_of(kWalls, [&](const Wall& w) {
    const double length = std::hypot(w.x1 - w.x0, w.y1 - w.y0);
    const double along = ((x - w.x0) * (w.x1 - w.x0) + (y - w.y0) * (w.y1 - w.y0)) / length;
    const double across = ((x - w.x0) * (w.y1 - w.y0) - (y - w.y0) * (w.x1 - w.x0)) / length;
    return along > -radius && along < length + radius &&
           std::abs(across) < w.thickness / 2 + radius;
  });
}

/// Share of the pixel for which `inside` holds, on 8 x 8 samples.
template <class Inside>
double coverage(std::size_t row, std::size_t col, const Inside& inside) {
  int hits = 0;
  for (int i = 0; i < 64; ++i) {
    const double x = (static_cast<double>(col) + (i % 8 + 0.5) / 8) * kPixel;
    const double y = (static_cast<double>(row) + (i / 8 + 0.5) / 8) * kPixel;
    hits += inside(x, y) ? 1 : 0;
  }
  return hits / 64.0;
}

/// White floor, black walls, a blue disc at a random free place.
SensoryData make_pictures(std::size_t rows, std::uint64_t seed) {
  std::vector<std::uint8_t> empty(kSide * kSide * 3);
  for (std::size_t p = 0; p < kSide * kSide; ++p) {
    const double wall =
        coverage(p / kSide, p % kSide, [](double x, double y) { return blocked(x, y, 0); });
    std::fill_n(&empty[3 * p], 3, static_cast<std::uint8_t>(std::lround(255 * (1 - wall))));
  }
  SensoryData data({{kSide, kSide, 3}, ElementType::uint8}, rows);
  Stream stream(seed, Purpose::user);
  for (std::size_t i = 0; i < rows; ++i) {
    double x = 0, y = 0;
    while (blocked(x, y, kRadius)) x = kWorld * stream.uniform(), y = kWorld * stream.uniform();
    const auto picture = data.mutable_view().row<std::uint8_t>(i);
    std::ranges::copy(empty, picture.begin());
    for (std::size_t p = 0; p < kSide * kSide; ++p) {
      if (std::abs(static_cast<double>(p % kSide) - x / kPixel) > 3) continue;
      if (std::abs(static_cast<double>(p / kSide) - y / kPixel) > 3) continue;
      const double disc = coverage(p / kSide, p % kSide, [&](double px, double py) {
        return std::hypot(px - x, py - y) <= kRadius;
      });
      for (std::size_t c = 0; c < 2; ++c) {
        picture[3 * p + c] = static_cast<std::uint8_t>(std::lround(empty[3 * p] * (1 - disc)));
      }
    }
  }
  return data;
}

struct Policy {
  std::size_t batch, epochs, patience;
};

void run(const Policy& policy, SensoryView pictures, Workers& workers) {
  AutoencoderConfig config;
  config.batch = policy.batch == 0 ? pictures.rows() : policy.batch;
  config.epochs = policy.epochs;
  config.patience = policy.patience;
  Stream weights(1, Purpose::encoder_weights);
  const auto encoder = make_autoencoder(config, pictures.shape(), kDimension, weights);
  std::printf("%5s %7zu %9zu", policy.batch == 0 ? "all" : std::to_string(policy.batch).c_str(),
              policy.epochs, policy.patience);
  double seconds = 0, cpu_seconds = 0;
  for (std::uint32_t u = 0; u < kUpdates.size(); ++u) {
    Stream training(1, Purpose::encoder_training, u);
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu_start = std::clock();
    const TrainingReport report = encoder->train(pictures.slice(0, kUpdates[u]), training, workers);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    cpu_seconds += static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
    std::printf("   %8.4f (%3zu)", report.validation_loss, report.epochs);
    std::fflush(stdout);
  }
  std::printf("   %7.1f   %11.1f\n", seconds, cpu_seconds);
}

Policy parse(const char* text) {
  Policy policy{};
  if (std::sscanf(text, "%zu:%zu:%zu", &policy.batch, &policy.epochs, &policy.patience) != 3) {
    throw UsageError(std::string("'") + text + "' is not BATCH:EPOCHS:PATIENCE");
  }
  return policy;
}

}  // namespace

int main(int argc, char** argv) try {
  Workers workers(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1);
  std::vector<Policy> policies;
  for (int i = 2; i < argc; ++i) policies.push_back(parse(argv[i]));
  if (policies.empty()) {
    for (const std::size_t batch : {32, 64, 128, 256}) {
      policies.push_back({batch, 3, 3});
      policies.push_back({batch, 10, 1});
    }
    policies.push_back({0, 100, 100});
  }
  const SensoryData pictures = make_pictures(kUpdates.back(), 1);
  std::printf("validation error (epochs run) after each of three updates; %zu thread(s)\n",
              workers.threads());
  std::printf("batch  epochs  patience");
  for (const std::size_t rows : kUpdates) std::printf("   %8zu      ", rows);
  std::printf("   seconds   CPU seconds\n");
  for (const Policy& policy : policies) run(policy, pictures.view(), workers);
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "training_curve: %s\n", error.what());
  return 2;
}
