#include "aurora/tasks/hexapod/controller.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora::hexapod {
namespace {

constexpr double kPi = std::numbers::pi;

TEST(HexapodController, ASignalIsASquareWaveWithRoundedEdges) {
  const Signal signal = smooth_square_wave(0.8, 0, 0.5);
  EXPECT_NEAR(signal[25], 0.8, 1e-12);
  EXPECT_NEAR(signal[75], -0.8, 1e-12);
  EXPECT_NEAR(std::accumulate(signal.begin(), signal.end(), 0.0), 0, 1e-12);
  // The edges are between samples 49 and 50, and between 99 and 0.
  EXPECT_NEAR(signal[49], -signal[50], 1e-12);
  EXPECT_NEAR(signal[0], -signal[99], 1e-12);
  EXPECT_GT(signal[0], 0);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_LT(signal[i], signal[i + 1]);
}

TEST(HexapodController, DutyIsTheShareOfHighSamples) {
  for (const double duty : {0.0, 0.139, 0.5, 0.77, 1.0}) {
    const Signal signal = smooth_square_wave(1, 0.3, duty);
    const double high = std::trunc(100 * duty);
    EXPECT_NEAR(std::accumulate(signal.begin(), signal.end(), 0.0), 2 * high - 100, 1e-9) << duty;
  }
}

TEST(HexapodController, PhaseShiftsCircularly) {
  const Signal still = smooth_square_wave(1, 0, 0.3);
  const Signal shifted = smooth_square_wave(1, 0.257, 0.3);
  for (std::size_t i = 0; i < kSamples; ++i) EXPECT_EQ(shifted[i], still[(i + 25) % kSamples]);
  EXPECT_EQ(smooth_square_wave(1, 1, 0.3), still);
}

TEST(HexapodController, LegsHaveTheirOwnGenes) {
  std::vector<float> genes(kGenes, 0.0F);
  genes[6 * 2 + 0] = 1;  // leg 2: coxa
  genes[6 * 2 + 2] = 1;
  genes[6 * 4 + 3] = 0.5F;  // leg 4: femur and tibia
  genes[6 * 4 + 5] = 1;
  const std::array<double, kJoints> targets = Controller(genes).targets(0.37);
  for (std::size_t joint = 0; joint < kJoints; ++joint) {
    const double expected = joint == 6 ? -kPi / 8 : joint == 13 || joint == 14 ? kPi / 8 : 0;
    EXPECT_NEAR(targets[joint], expected, 1e-12) << joint;
  }
}

TEST(HexapodController, TargetsRepeatEverySecondAndHoldForASample) {
  std::vector<float> genes(kGenes);
  for (std::size_t i = 0; i < kGenes; ++i) genes[i] = static_cast<float>(i) / 36;
  const Controller controller(genes);
  EXPECT_EQ(controller.targets(0.125), controller.targets(1.125));
  EXPECT_EQ(controller.targets(0.1201), controller.targets(0.1299));
  EXPECT_NE(controller.targets(0.125), controller.targets(0.625));
}

TEST(HexapodController, GenesCountWithThreeDecimals) {
  std::vector<float> genes(kGenes, 0.4996F);
  std::vector<float> rounded(kGenes, 0.5F);
  EXPECT_EQ(Controller(genes).targets(0.3), Controller(rounded).targets(0.3));
  rounded[0] = 0.501F;
  EXPECT_NE(Controller(genes).targets(0.3), Controller(rounded).targets(0.3));
}

TEST(HexapodController, RefusesWhatAreNoGenes) {
  EXPECT_THROW(Controller(std::vector<float>(35)), DataError);
  EXPECT_THROW(Controller(std::vector<float>(37)), DataError);
  std::vector<float> genes(kGenes);
  genes[35] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(Controller{genes}, DataError);
  genes[35] = -0.1F;
  EXPECT_THROW(Controller{genes}, DataError);
}

}  // namespace
}  // namespace aurora::hexapod
