#include "aurora/core/plugin.hpp"

#include <gtest/gtest.h>

namespace aurora {
namespace {

TEST(Plugin, WhatIsNotThereIsNull) {
  EXPECT_EQ(find_in_plugin("libaurora_perpetual_motion.so", "start"), nullptr);
  EXPECT_EQ(find_in_plugin("libaurora.so", "aurora_no_such_function"), nullptr);
}

TEST(Plugin, WhatIsNotThereIsNamedWithItsRemedy) {
  EXPECT_EQ(missing_plugin("libaurora_perpetual_motion.so", "wait"),
            "libaurora_perpetual_motion.so is not there; wait");
  EXPECT_EQ(missing_plugin("libaurora.so", "wait"), "");
}

}  // namespace
}  // namespace aurora
