#include "aurora/encoders/encoder_state.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

const SensoryShape kShape{{2, 3}, ElementType::float32};

std::vector<NamedArray> valid_state() {
  std::vector<NamedArray> state;
  append_scaling(state, kShape, InputScaling::identity(6));
  return state;
}

TEST(EncoderState, AcceptsWhatItDescribes) {
  EXPECT_NO_THROW(check_state(valid_state(), scaling_specs(kShape)));
}

TEST(EncoderState, RefusesEachCorruption) {
  struct Case {
    const char* what;
    void (*corrupt)(std::vector<NamedArray>&);
  };
  const std::array cases = {
      Case{"missing array", [](auto& s) { s.pop_back(); }},
      Case{"extra array", [](auto& s) { s.push_back(s[0]); }},
      Case{"name", [](auto& s) { s[0].name = "scaling.men"; }},
      Case{"order", [](auto& s) { std::swap(s[0], s[1]); }},
      Case{"shape", [](auto& s) { s[1].shape = {6}; }},
      Case{"too few values", [](auto& s) { s[1].values.pop_back(); }},
      Case{"too many values", [](auto& s) { s[0].values.push_back(0.0F); }},
      Case{"nan", [](auto& s) { s[0].values[4] = std::numeric_limits<float>::quiet_NaN(); }},
      Case{"infinity", [](auto& s) { s[0].values[5] = std::numeric_limits<float>::infinity(); }},
      Case{"scale of zero", [](auto& s) { s[1].values[0] = 0.0F; }},
      Case{"negative scale", [](auto& s) { s[1].values[5] = -1.0F; }}};
  for (const Case& c : cases) {
    std::vector<NamedArray> state = valid_state();
    c.corrupt(state);
    EXPECT_THROW(check_state(state, scaling_specs(kShape)), DataError) << c.what;
  }
}

TEST(EncoderState, ChecksShapesOfDataAndResults) {
  const SensoryData right(kShape, 2), wrong({{3, 2}, ElementType::float32}, 2),
      bytes({{2, 3}, ElementType::uint8}, 2);
  EXPECT_NO_THROW(check_shape(kShape, right.view()));
  EXPECT_THROW(check_shape(kShape, wrong.view()), DataError);
  EXPECT_THROW(check_shape(kShape, bytes.view()), DataError);

  Matrix<float> out(2, 4);
  std::array<float, 2> error{};
  EXPECT_NO_THROW(check_outputs(2, 4, out, error));
  EXPECT_NO_THROW(check_outputs(2, 4, out, {}));
  EXPECT_THROW(check_outputs(3, 4, out, {}), DataError);
  EXPECT_THROW(check_outputs(2, 3, out, {}), DataError);
  EXPECT_THROW(check_outputs(2, 4, out, std::span(error).first(1)), DataError);
}

TEST(EncoderState, DescribesExtents) {
  EXPECT_EQ(describe(std::array<std::size_t, 3>{64, 64, 3}), "64 x 64 x 3");
}

}  // namespace
}  // namespace aurora
