#include "aurora/encoders/native/adam.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "aurora/core/random.hpp"
#include "aurora/encoders/adam.hpp"

namespace aurora {
namespace {

std::vector<float> draw(Stream& stream, std::size_t n) {
  std::vector<float> values(n);
  for (float& v : values) v = static_cast<float>(stream.normal());
  return values;
}

TEST(NativeAdam, TheBitsOfAdamOnTheSumOfTheParts) {
  for (const std::size_t size : {1, 7, 16, 333}) {
    Stream stream(size, Purpose::user);
    std::vector<float> fast = draw(stream, size), plain = fast;
    native::Adam native_adam(size, 0.01);
    Adam adam(0.01);
    for (int step = 0; step < 20; ++step) {
      if (step == 10) {
        native_adam.reset();
        adam.reset();
      }
      const std::vector<float> a = draw(stream, size), b = draw(stream, size),
                               c = draw(stream, size);
      const float* parts[] = {a.data(), b.data(), c.data()};
      std::vector<float> sum(size);
      for (std::size_t i = 0; i < size; ++i) sum[i] = (a[i] + b[i] + c[i]) * 0.25F;
      native_adam.step(fast, parts, 0.25);
      adam.step(plain, sum);
      ASSERT_EQ(fast, plain) << "size " << size << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace aurora
