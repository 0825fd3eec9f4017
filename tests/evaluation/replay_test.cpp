#include "aurora/evaluation/replay.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "aurora/evaluation/thread_evaluator.hpp"
#include "toy.hpp"

namespace aurora {
namespace {

void flip_last_bit(float& value) {
  value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ 1U);
}

class Replay : public testing::Test {
 protected:
  Replay() : stored_({2, 1, 2, toy_.spec().sensory}, 5) {
    stored_.genotypes = numbered_genotypes(5);
    toy_.evaluate(stored_.genotypes,
                  {stored_.fitness, stored_.sensory.mutable_view(), stored_.ground_truth.view()});
  }

  std::string difference_of(std::size_t row, bool with_sensory = true) {
    return difference(stored_, row, replay(evaluator_, toy_.spec(), stored_, row), with_sensory);
  }

  const Toy toy_;
  Workers workers_{1};
  ThreadEvaluator evaluator_{toy_, workers_};
  Individuals stored_;
};

TEST_F(Replay, GivesWhatIsStored) {
  for (std::size_t row = 0; row < 5; ++row) {
    EXPECT_EQ(difference_of(row), "") << row;
    Evaluation again = replay(evaluator_, toy_.spec(), stored_, row);
    ASSERT_EQ(again.fitness.size(), 1U);
    EXPECT_EQ(again.fitness[0], -static_cast<float>(row) / 2);
    EXPECT_EQ(again.ground_truth(0, 0), static_cast<float>(row));
  }
}

TEST_F(Replay, FindsASingleBitOfTheFitness) {
  flip_last_bit(stored_.fitness[3]);
  const std::string found = difference_of(3);
  EXPECT_EQ(found.find("fitness is -1.5, stored is -1.5"), 0U) << found;
  EXPECT_EQ(found.find("ground truth"), std::string::npos) << found;
  EXPECT_EQ(difference_of(2), "");
}

TEST_F(Replay, FindsASingleBitOfTheGroundTruth) {
  flip_last_bit(stored_.ground_truth(4, 1));
  const std::string found = difference_of(4);
  EXPECT_EQ(found.find("ground truth is 4, 2, stored is 4, 2.0000"), 0U) << found;
}

TEST_F(Replay, FindsASingleBitOfTheSensoryDataIfItIsLookedAt) {
  flip_last_bit(stored_.sensory.mutable_view().row<float>(1)[2]);
  EXPECT_EQ(difference_of(1), "the sensory data is not what is stored");
  EXPECT_EQ(difference_of(1, false), "");
}

TEST_F(Replay, SaysEverythingThatDiffers) {
  stored_.fitness[2] = 9;
  stored_.ground_truth(2, 0) = 8;
  stored_.sensory.mutable_view().row<float>(2)[0] = 7;
  EXPECT_EQ(difference_of(2),
            "fitness is -1, stored is 9; ground truth is 2, 1, stored is 8, 1; the sensory data is "
            "not what is stored");
}

TEST_F(Replay, ComparesBitsAndNotValues) {
  // Row 0 gives -0, 0 and 0.
  EXPECT_TRUE(std::signbit(stored_.fitness[0]));
  stored_.fitness[0] = 0.0F;
  EXPECT_EQ(difference_of(0), "fitness is -0, stored is 0");
  stored_.fitness[0] = -0.0F;
  stored_.sensory.mutable_view().row<float>(0)[1] = -0.0F;
  EXPECT_EQ(difference_of(0), "the sensory data is not what is stored");
}

}  // namespace
}  // namespace aurora
