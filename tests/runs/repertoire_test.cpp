#include "aurora/runs/repertoire.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/storage/npy.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Individuals anywhere within the bounds, many of them in the same places.
SavedContainer crowd(std::size_t rows) {
  SavedContainer container;
  container.ground_truth = {{"x", 0, 1}, {"y", -5, 5, "m"}};
  container.individuals = Individuals(IndividualsLayout{1, 3, 2, {{1}}}, rows);
  Stream stream(9, Purpose::user);
  for (std::size_t i = 0; i < rows; ++i) {
    container.individuals.ids[i] = i;
    container.individuals.ground_truth(i, 0) = static_cast<float>(stream.below(5)) / 4;
    container.individuals.ground_truth(i, 1) = static_cast<float>(stream.below(5)) - 2;
    for (float& value : container.individuals.descriptors.row(i)) {
      value = static_cast<float>(stream.below(4));
    }
  }
  return container;
}

template <class Distance>
void expect_nearest(const std::vector<Nearby>& found, std::size_t rows, Distance distance) {
  std::vector<std::pair<double, std::size_t>> all;
  for (std::size_t row = 0; row < rows; ++row) all.emplace_back(distance(row), row);
  std::ranges::sort(all);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i].distance, all[i].first, 1e-12);
    EXPECT_EQ(found[i].row, all[i].second) << i;
  }
}

TEST(Nearest, AreThoseThatASortFinds) {
  const SavedContainer container = crowd(200);
  const Individuals& all = container.individuals;
  for (const std::size_t count : {1U, 7U, 200U, 1000U}) {
    const std::vector<double> goal = {0.3, 1.5};
    const auto near = nearest_to_goal(container, goal, count);
    EXPECT_EQ(near.size(), std::min<std::size_t>(count, 200));
    // The y axis is ten times as long.
    expect_nearest(near, 200, [&](std::size_t row) {
      const double x = all.ground_truth(row, 0) - goal[0];
      const double y = (all.ground_truth(row, 1) - goal[1]) / 10;
      return std::sqrt(x * x + y * y);
    });
    const std::vector<double> place = {1, 2.5, 0};
    const auto alike = nearest_to_descriptor(container, place, count);
    expect_nearest(alike, 200, [&](std::size_t row) {
      double squared = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        squared += std::pow(all.descriptors(row, i) - place[i], 2);
      }
      return std::sqrt(squared);
    });
  }
  EXPECT_EQ(nearest_to_goal(container, std::vector<double>{0.5}, 1).size(), 1u);
}

TEST(Nearest, RefusesPlacesThatMakeNoSense) {
  const SavedContainer container = crowd(3);
  const auto goal = [&](std::vector<double> at) { nearest_to_goal(container, at, 1); };
  EXPECT_THROW(goal({}), UsageError);
  EXPECT_THROW(goal({1, 2, 3}), UsageError);
  EXPECT_THROW(goal({1, kNaN}), UsageError);
  EXPECT_THROW(nearest_to_goal(container, std::vector<double>{1}, 0), UsageError);
  const auto descriptor = [&](std::vector<double> at) { nearest_to_descriptor(container, at, 1); };
  EXPECT_THROW(descriptor({1, 2}), UsageError);
  EXPECT_THROW(descriptor({1, 2, kNaN}), UsageError);
}

TEST(Nearest, SaysWhatIsOutsideTheBounds) {
  const SavedContainer container = crowd(1);
  const auto outside = [&](std::vector<double> at) {
    return outside_bounds(container.ground_truth, at);
  };
  EXPECT_EQ(outside({0, 5}), "");
  EXPECT_EQ(outside({-0.5}), "x -0.5 (0 to 1)");
  EXPECT_EQ(outside({2, 6}), "x 2 (0 to 1), y 6 (-5 to 5)");
}

class Encode : public RunFixture {
 protected:
  void make_run(const std::string& variant) {
    run_with({"run.iterations=12", "run.batch=32", "container.target_size=60"}, variant);
  }
  Encoded encode(const fs::path& file, std::size_t threads = 1) {
    return encode_file(parts_, out_, file, threads);
  }
  std::string refusal(const fs::path& file) {
    try {
      encode(file);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
  fs::path write(const NpyHeader& header, const std::string& data) {
    const fs::path file = root_ / "observations.npy";
    std::ofstream(file, std::ios::binary) << npy_preamble(header) << data;
    return file;
  }
};

// After its last update the encoder describes the whole container, and later children one by one.
TEST_F(Encode, TheContainersOwnSensoryDataGivesTheStoredDescriptors) {
  for (const char* variant : {"aurora-csc-uniform-4", "aurora-csc-surprise-3"}) {
    SCOPED_TRACE(variant);
    make_run(variant);
    const Individuals stored = load_container(out_ / "container").individuals;
    for (const std::size_t threads : {1U, 3U}) {
      const Encoded again = encode(out_ / "container" / "sensory.npy", threads);
      EXPECT_EQ(again.descriptors, stored.descriptors);
      if (variant == std::string("aurora-csc-surprise-3")) {
        EXPECT_EQ(again.reconstruction_error, stored.reconstruction_error);
      }
    }
  }
}

TEST_F(Encode, RefusesWhatDoesNotFit) {
  make_run("aurora-csc-uniform-4");
  const std::string needs = "needs an array of uint8 of the shape (rows, 64, 64, 3)";
  const std::string picture(64 * 64 * 3, 'x');
  const auto expect = [&](const fs::path& file, const std::string& says) {
    const std::string said = refusal(file);
    EXPECT_NE(said.find(says), std::string::npos) << said;
    EXPECT_NE(said.find(needs), std::string::npos) << said;
  };
  expect(write({NpyType::uint8, {64, 64, 3}}, picture),
         "holds an array of uint8 of the shape (64, 64, 3)");
  expect(write({NpyType::uint8, {1, 3, 64, 64}}, picture), "(1, 3, 64, 64)");
  expect(write({NpyType::float32, {1, 16, 64, 3}}, picture), "an array of float32");
  expect(write({NpyType::uint8, {2, 64, 64, 3}}, picture), "bytes follow");
  std::ofstream(root_ / "text") << "hello";
  expect(root_ / "text", "too short for a .npy file");
  EXPECT_NE(refusal(root_ / "none.npy").find("cannot read"), std::string::npos);
  EXPECT_EQ(encode(write({NpyType::uint8, {0, 64, 64, 3}}, "")).descriptors.rows(), 0u);

  fs::remove_all(out_ / "encoder");
  EXPECT_EQ(encode(out_ / "container" / "sensory.npy").descriptors.rows(),
            load_container(out_ / "container").individuals.size());  // by the checkpoint's
  fs::remove_all(out_ / "checkpoint");
  EXPECT_NE(refusal(out_ / "container" / "sensory.npy").find("there is no encoder in"),
            std::string::npos);
  make_run("hc-csc-uniform");
  EXPECT_NE(refusal(out_ / "container" / "sensory.npy").find("hand-coded"), std::string::npos);
}

/// A task that senses three numbers.
class Mirror : public Task {
 public:
  Mirror() {
    spec_.name = "mirror";
    spec_.genotype_size = 3;
    spec_.sensory = {{3}, ElementType::float32};
    spec_.ground_truth = {{"x", 0, 1}, {"y", 0, 1}};
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      out.fitness[i] = genotypes(i, 0);
      std::ranges::copy(genotypes.row(i), out.sensory.row<float>(i).begin());
      out.ground_truth(i, 0) = genotypes(i, 1);
      out.ground_truth(i, 1) = genotypes(i, 2);
    }
  }

 private:
  TaskSpec spec_;
};

TEST_F(Encode, RefusesNumbersThatAreNotFinite) {
  parts_.tasks.add(part<NoOptions>("mirror", "").made_by([](const NoOptions&, const TaskContext&) {
    return std::make_unique<Mirror>();
  }));
  run_with({"run.iterations=12", "run.batch=32", "container.target_size=60"},
           "aurora-csc-uniform-2", "mirror");
  std::vector<float> values = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F};
  const auto file = [&] {
    std::string bytes(values.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return write({NpyType::float32, {2, 3}}, bytes);
  };
  EXPECT_EQ(encode(file()).descriptors.rows(), 2u);
  values[4] = std::numeric_limits<float>::infinity();
  EXPECT_NE(refusal(file()).find("not finite in row 1"), std::string::npos);
}

}  // namespace
}  // namespace aurora
