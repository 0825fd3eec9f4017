// Whole runs of a task from outside whose picture is neither square, nor coloured, nor of a size
// that poolings halve.
#include <algorithm>
#include <memory>

#include "aurora/core/errors.hpp"
#include "aurora/runs/run_directory.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

constexpr std::size_t kHeight = 20, kWidth = 30;

/// A lamp on a dark floor, as a grey picture; its place and its light are the genes.
class Lamp : public Task {
 public:
  explicit Lamp(SensoryShape sensory) {
    spec_.name = "lamp";
    spec_.genotype_size = 3;
    spec_.sensory = std::move(sensory);
    spec_.ground_truth = {{"x", 0, 1}, {"y", 0, 1}};
    spec_.worst_fitness = -1;
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    const std::size_t height = spec_.sensory.extents[0], width = spec_.sensory.extents[1];
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      const auto genes = genotypes.row(i);
      const auto picture = out.sensory.row<std::uint8_t>(i);
      std::ranges::fill(picture, std::uint8_t{10});
      for (std::size_t j = 0; j < picture.size(); ++j) {
        const std::size_t pixel = j / spec_.sensory.extents[2];
        const float dx = static_cast<float>(pixel % width) / static_cast<float>(width) - genes[0];
        const float dy = static_cast<float>(pixel / width) / static_cast<float>(height) - genes[1];
        if (dx * dx + dy * dy < 0.02F) {
          picture[j] = static_cast<std::uint8_t>(120 + 100 * genes[2]);
        }
      }
      out.fitness[i] = -genes[2];
      out.ground_truth(i, 0) = genes[0];
      out.ground_truth(i, 1) = genes[1];
    }
  }

 private:
  TaskSpec spec_;
};

class APictureRun : public RunFixture {
 protected:
  void shine(const SensoryShape& sensory) {
    parts_ = builtin_parts();
    parts_.tasks.add(part<NoOptions>("lamp", "").made_by([=](const NoOptions&, TaskContext&) {
      return std::make_unique<Lamp>(sensory);
    }));
  }
  RunSummary run_lamp(std::vector<std::string> more) {
    more.insert(more.end(), {"run.iterations=12", "run.batch=32", "container.target_size=60"});
    return run_with(more, "aurora-csc-uniform-4", "lamp");
  }
};

TEST_F(APictureRun, OddGreyPicturesGoThroughTheConvolutions) {
  shine({{kHeight, kWidth, 1}, ElementType::uint8});
  const RunSummary one = run_lamp({"encoder.kind=conv-ae", "run.threads=1"});
  EXPECT_EQ(one.status, RunStatus::finished);
  EXPECT_GT(one.container_size, 20U);
  const auto encoder = load_encoder(out_ / "encoder");
  const auto shape_of = [&](const std::string& name) {
    return std::ranges::find(encoder, name, &NamedArray::name)->shape;
  };
  EXPECT_EQ(shape_of("encoder.conv1.weight"), (std::vector<std::size_t>{4, 1, 3, 3}));
  EXPECT_EQ(shape_of("encoder.linear1.weight"), (std::vector<std::size_t>{64, 3, 4, 4}));
  EXPECT_EQ(shape_of("scaling.mean"), (std::vector<std::size_t>{kHeight, kWidth, 1}));

  // `auto` is the same, and so is any number of threads; other widths are other encoders.
  EXPECT_EQ(run_lamp({"run.threads=3"}).container_hash, one.container_hash);
  EXPECT_NE(run_lamp({"encoder.channels=6"}).container_hash, one.container_hash);
}

TEST_F(APictureRun, PicturesThatConvolutionsCannotTakeAreRefusedWithTheReason) {
  for (const auto& [extents, reason] :
       {std::pair<std::vector<std::size_t>, std::string>{{7, 30, 1}, "must be at least 8"},
        {{20, 30, 5}, "1 to 4 channels"}}) {
    shine({extents, ElementType::uint8});
    try {
      run_lamp({"encoder.kind=conv-ae"});
      FAIL() << "nothing was thrown";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("use encoder.kind=mlp-ae"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace aurora
