// What signals do to a program that is about to end.
#include "apps/aurora/interrupt.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace aurora {
namespace {

auto disposition(int number) {
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  return action.sa_handler;
}

class Interrupt : public testing::Test {
 protected:
  void SetUp() override { signal(SIGHUP, SIG_DFL); }
  void TearDown() override { signal(SIGHUP, SIG_DFL); }
};

TEST_F(Interrupt, AHangUpAfterTheFlagIsGoneChangesNoStatus) {
  {
    const InterruptFlag interrupt;
    raise(SIGHUP);
    EXPECT_TRUE(interrupt.raised());
    EXPECT_EQ(interrupt.exit_status(), 129);
  }
  raise(SIGHUP);  // the shell's, after the terminal's: it would end this process
  EXPECT_EQ(disposition(SIGHUP), SIG_IGN);
}

TEST_F(Interrupt, WithoutASignalAllIsAsBefore) {
  { const InterruptFlag interrupt; }
  EXPECT_EQ(disposition(SIGHUP), SIG_DFL);
  EXPECT_EQ(disposition(SIGINT), SIG_DFL);
}

TEST_F(Interrupt, UnderNohupNoHangUpIsHeard) {
  signal(SIGHUP, SIG_IGN);
  const InterruptFlag interrupt;
  raise(SIGHUP);
  EXPECT_FALSE(interrupt.raised());
}

}  // namespace
}  // namespace aurora
