#include "aurora/runs/show.hpp"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <set>

#include "aurora/core/errors.hpp"
#include "aurora/storage/film.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

/// A task that does not draw; its sensory data is three numbers.
class Mirror : public Task {
 public:
  Mirror() {
    spec_.name = "mirror";
    spec_.genotype_size = 3;
    spec_.sensory = {{3}, ElementType::float32};
    spec_.ground_truth = {{"x", 0, 1}, {"y", 0, 10}};
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      const auto genes = genotypes.row(i);
      out.fitness[i] = genes[0];
      std::ranges::copy(genes, out.sensory.row<float>(i).begin());
      out.ground_truth(i, 0) = genes[1];
      out.ground_truth(i, 1) = 10 * genes[2];
    }
  }

 private:
  TaskSpec spec_;
};

/// Width and height as libpng reads them; zeros if it is no PNG.
std::pair<std::size_t, std::size_t> size_of(const fs::path& file) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, file.c_str()) == 0) return {0, 0};
  const std::pair<std::size_t, std::size_t> size = {image.width, image.height};
  png_image_free(&image);
  return size;
}

Image decoded(const fs::path& file) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_file(&image, file.c_str()), 0) << image.message;
  image.format = PNG_FORMAT_RGB;
  Image result(image.width, image.height);
  EXPECT_NE(png_image_finish_read(&image, nullptr, result.pixels.data(), 0, nullptr), 0);
  return result;
}

class Show : public RunFixture {
 protected:
  Show() {
    parts_.tasks.add(
        part<NoOptions>("mirror", "").made_by([](const NoOptions&, const TaskContext&) {
          return std::make_unique<Mirror>();
        }));
  }

  void make_run(const std::string& variant, const std::string& task = "maze") {
    run_with(
        {"run.iterations=12", "run.batch=32", "container.target_size=60", "run.snapshot_every=6"},
        variant, task);
  }

  Viewer viewer() const { return Viewer(parts_, out_); }

  /// The message of the error that `act` throws.
  template <class Error>
  static std::string refusal(const std::function<void()>& act) {
    try {
      act();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  void rewrite_container(const std::function<void(Individuals&)>& change) {
    SavedContainer saved = load_container(out_ / "container");
    change(saved.individuals);
    fs::remove_all(root_ / "other");
    RunDirectory::create(root_ / "other")
        .write_container(saved.individuals, saved.state, plan_of_run(parts_, out_).spec());
    fs::remove_all(out_ / "container");
    fs::rename(root_ / "other" / "container", out_ / "container");
  }

  const fs::path pictures_ = root_ / "pictures";
};

TEST_F(Show, WritesPictureFilmAndReconstruction) {
  make_run("aurora-csc-uniform-4");
  const Viewer view = viewer();
  EXPECT_TRUE(view.notes().empty());
  EXPECT_TRUE(view.reconstructs());
  const std::size_t row = view.select({}).at(0);
  const Shown shown = view.show(row, pictures_);
  EXPECT_EQ(shown.difference, "");
  EXPECT_EQ(shown.fitness, *std::ranges::max_element(view.container().individuals.fitness));
  const std::string stem = "individual-" + std::to_string(shown.id);
  EXPECT_EQ(shown.files,
            (std::vector<fs::path>{pictures_ / (stem + ".png"), pictures_ / (stem + "-film.apng"),
                                   pictures_ / (stem + "-sensory.png")}));
  EXPECT_EQ(size_of(shown.files[0]), std::pair(std::size_t{768}, std::size_t{768}));
  EXPECT_EQ(size_of(shown.files[1]), std::pair(std::size_t{512}, std::size_t{512}));
  EXPECT_EQ(size_of(shown.files[2]), std::pair(std::size_t{1048}, std::size_t{542}));
  EXPECT_NE(content(shown.files[1]).find("acTL"), std::string::npos);
  EXPECT_LT(fs::file_size(shown.files[1]), 2'000'000u);
}

TEST_F(Show, HandCodedRunsHaveNoReconstruction) {
  make_run("hc-csc-uniform");
  const Viewer view = viewer();
  EXPECT_FALSE(view.reconstructs());
  EXPECT_TRUE(view.notes().empty());
  const Shown shown = view.show(0, pictures_);
  EXPECT_EQ(size_of(shown.files.back()), std::pair(std::size_t{512}, std::size_t{542}));
}

TEST_F(Show, FilmsAreOfTheKindThatIsAskedFor) {
  make_run("hc-csc-uniform");
  const Viewer view = viewer();
  const Shown gif = view.show(0, pictures_, FilmKind::gif);
  ASSERT_EQ(gif.files.size(), 3u);
  EXPECT_EQ(gif.files[1].extension(), ".gif");
  EXPECT_TRUE(content(gif.files[1]).starts_with("GIF89a"));
  EXPECT_EQ(view.show(0, pictures_, FilmKind::gif).files, gif.files);  // its own is replaced
  std::ofstream(gif.files[1], std::ios::binary) << "precious";
  EXPECT_THROW(view.show(0, pictures_, FilmKind::gif), FileError);
  EXPECT_EQ(view.show(0, pictures_, FilmKind::none).files.size(), 2u);
  const std::string before = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  EXPECT_NE(refusal<FileError>([&] {
              view.show(0, root_ / "mp4", FilmKind::mp4);
            }).find("need the program ffmpeg"),
            std::string::npos);
  setenv("PATH", before.c_str(), 1);
  EXPECT_FALSE(fs::exists(root_ / "mp4"));
}

// Above the pictures their names, and a line between them.
TEST_F(Show, DataAndReconstructionAreToldApart) {
  make_run("aurora-csc-uniform-4");
  const Shown shown = viewer().show(0, pictures_);
  const Image image = decoded(shown.files.back());
  const auto dark = [&](std::size_t left, std::size_t right, std::size_t top, std::size_t bottom) {
    std::size_t count = 0;
    for (std::size_t y = top; y < bottom; ++y) {
      for (std::size_t x = left; x < right; ++x) count += image.at(x, y).red < 128 ? 1 : 0;
    }
    return count;
  };
  EXPECT_GT(dark(0, 512, 0, 30), 300u);
  EXPECT_GT(dark(536, 1048, 0, 30), dark(0, 512, 0, 30));  // a longer word
  EXPECT_EQ(dark(512, 536, 0, 542), 2u * 542u);
}

TEST_F(Show, ATaskWithoutADrawingShowsWhatItSenses) {
  make_run("hc-csc-uniform", "mirror");
  const Shown shown = viewer().show(0, pictures_);
  EXPECT_EQ(shown.difference, "");
  ASSERT_EQ(shown.files.size(), 1u);
  EXPECT_GT(size_of(shown.files[0]).first, 512u);  // with numbers along the axes
}

TEST_F(Show, SelectsWhatIsAskedFor) {
  make_run("hc-csc-uniform", "mirror");
  const Viewer view = viewer();
  const Individuals& members = view.container().individuals;
  ASSERT_GT(members.size(), 5u);

  EXPECT_EQ(view.select({.id = members.ids[4]}), std::vector<std::size_t>{4});
  Wanted best;
  best.best = true;
  EXPECT_EQ(view.select(best), view.select({}));

  for (const std::size_t count : {std::size_t{3}, std::size_t{1'000'000}}) {
    Wanted random;
    random.random = count;
    const std::vector<std::size_t> rows = view.select(random);
    EXPECT_EQ(rows.size(), std::min(count, members.size()));
    EXPECT_EQ(std::set(rows.begin(), rows.end()).size(), rows.size());
    EXPECT_LT(*std::ranges::max_element(rows), members.size());
  }

  // y counts a tenth of x, for its axis is ten times as long.
  Wanted near;
  near.ground_truth = {0.5, 5.0};
  const auto distance = [&](std::size_t row) {
    return std::hypot(members.ground_truth(row, 0) - 0.5, members.ground_truth(row, 1) / 10 - 0.5);
  };
  const std::size_t row = view.select(near).at(0);
  for (std::size_t other = 0; other < members.size(); ++other) {
    EXPECT_LE(distance(row), distance(other) + 1e-6);
  }
  near.ground_truth = {members.ground_truth(2, 0)};  // the first axis alone
  EXPECT_EQ(members.ground_truth(view.select(near).at(0), 0), members.ground_truth(2, 0));
}

TEST_F(Show, RefusesSelectionsThatMakeNoSense) {
  make_run("hc-csc-uniform", "mirror");
  const Viewer view = viewer();
  const std::uint64_t last = view.container().individuals.ids.back();
  const auto said = [&](const Wanted& wanted) {
    return refusal<UsageError>([&] { view.select(wanted); });
  };
  EXPECT_NE(said({.id = last + 100}).find("the nearest id is " + std::to_string(last)),
            std::string::npos);
  const std::string one =
      "the best, one by its id, some at random and the nearest to a place exclude each other: "
      "choose one";
  EXPECT_EQ(said({.best = true, .id = last}), one);
  EXPECT_EQ(said({.random = 2, .ground_truth = {{1, 2}}}), one);
  EXPECT_EQ(said({.id = last, .random = 1}), one);
  EXPECT_NE(said({.random = 0}).find("at least 1"), std::string::npos);
  EXPECT_NE(said({.ground_truth = {{1, 2, 3}}}).find("1 to 2 finite numbers, for x,y"),
            std::string::npos);
  EXPECT_NE(said({.ground_truth = {{1, std::numeric_limits<double>::quiet_NaN()}}}).find("finite"),
            std::string::npos);
  EXPECT_NE(said({.ground_truth = std::vector<double>()}).find("finite"), std::string::npos);
}

TEST_F(Show, StoredValuesThatDoNotComeBackAreFound) {
  make_run("hc-csc-uniform", "mirror");
  rewrite_container([](Individuals& members) {
    members.fitness[0] = std::nextafter(members.fitness[0], 2.0F);
    members.ground_truth(1, 1) = 0.125F;
    members.sensory.mutable_view().row<float>(2)[0] += 0.25F;
  });
  const Viewer view = viewer();
  EXPECT_TRUE(view.show(0, pictures_).difference.starts_with("fitness is "));
  const std::string truth = view.show(1, pictures_).difference;
  EXPECT_TRUE(truth.starts_with("ground truth is ")) << truth;
  EXPECT_TRUE(truth.ends_with(", 0.125")) << truth;
  EXPECT_EQ(view.show(2, pictures_).difference, "the sensory data is not what is stored");
  EXPECT_EQ(view.show(3, pictures_).difference, "");
}

TEST_F(Show, ARunningRunShowsItsLastCheckpoint) {
  make_run("aurora-csc-uniform-2", "mirror");
  const Drawn whole = viewer().draw(0);
  fs::remove_all(out_ / "container");
  fs::remove_all(out_ / "encoder");
  fs::remove_all(out_ / "snapshots" / "000012");
  const Viewer view = viewer();
  EXPECT_TRUE(view.reconstructs());
  EXPECT_EQ(view.notes(),
            (std::vector<std::string>{"there is no whole container: this is checkpoint"}));
  const Drawn drawn = view.draw(0);
  EXPECT_EQ(drawn.difference, "");
  ASSERT_EQ(drawn.files.size(), whole.files.size());
  EXPECT_EQ(drawn.files.back().bytes, whole.files.back().bytes);
}

TEST_F(Show, AnEarlierIterationIsItsSnapshot) {
  make_run("aurora-csc-uniform-2", "mirror");
  const Viewer view(parts_, out_, 6);
  EXPECT_EQ(view.container().individuals.ids,
            load_container(out_ / "snapshots" / "000006").individuals.ids);
  EXPECT_THROW(Viewer(parts_, out_, 7), UsageError);
}

TEST_F(Show, BytesAreThoseOfTheFiles) {
  make_run("aurora-csc-uniform-2");
  const Viewer view = viewer();
  for (const FilmKind film : {FilmKind::apng, FilmKind::gif, FilmKind::none}) {
    const fs::path out = root_ / std::string(name_of(film));
    const Shown shown = view.show(1, out, film);
    const Drawn drawn = view.draw(1, {.stills = true, .film = film});
    ASSERT_EQ(drawn.files.size(), shown.files.size());
    for (std::size_t i = 0; i < drawn.files.size(); ++i) {
      EXPECT_EQ(out / drawn.files[i].name, shown.files[i]);
      EXPECT_EQ(drawn.files[i].bytes, content(shown.files[i]));
    }
  }
  const Drawn film = view.draw(1, {.stills = false, .film = FilmKind::apng});
  ASSERT_EQ(film.files.size(), 1u);
  EXPECT_EQ(film.files[0].bytes, content(root_ / "apng" / film.files[0].name));
  EXPECT_THROW(view.draw(1, {.stills = true, .film = FilmKind::mp4}), UsageError);
}

TEST_F(Show, ARunningRunShowsItsNewestWholeSnapshot) {
  make_run("aurora-csc-uniform-2", "mirror");
  for (const char* name : {"container", "encoder", "checkpoint"}) fs::remove_all(out_ / name);
  {
    const Viewer view = viewer();
    EXPECT_FALSE(view.reconstructs());
    EXPECT_EQ(view.notes(),
              (std::vector<std::string>{"there is no whole container: this is snapshots/000012",
                                        "there is no encoder yet: sensory data comes without its "
                                        "reconstruction"}));
    EXPECT_EQ(view.container().individuals.ids,
              load_container(out_ / "snapshots" / "000012").individuals.ids);
    const Shown shown = view.show(0, pictures_);
    EXPECT_EQ(shown.difference, "");
    EXPECT_EQ(shown.files.size(), 1u);
  }
  std::ofstream(out_ / "snapshots" / "000012" / "fitness.npy") << "damaged";
  EXPECT_EQ(viewer().container().individuals.ids,
            load_container(out_ / "snapshots" / "000006").individuals.ids);
  EXPECT_EQ(viewer().notes()[1], "there is no whole container: this is snapshots/000006");
  EXPECT_TRUE(viewer().notes()[0].starts_with("cannot use snapshots/000012: "));

  fs::remove_all(out_ / "snapshots" / "000006");
  EXPECT_THROW(viewer(), DataError);
  fs::remove_all(out_ / "snapshots");
  EXPECT_NE(refusal<DataError>([&] { viewer(); }).find("a snapshot every 6 iterations"),
            std::string::npos);
  EXPECT_THROW(Viewer(parts_, root_ / "nowhere"), FileError);
}

TEST_F(Show, AContainerOfAnotherTaskIsRefused) {
  make_run("hc-csc-uniform", "mirror");
  const fs::path mirror = out_;
  make_run("hc-csc-uniform");
  fs::remove_all(out_ / "container");
  fs::copy(mirror / "container", out_ / "container");
  EXPECT_NE(refusal<DataError>([&] { viewer(); }).find("individuals of 'mirror' with 3 genes"),
            std::string::npos);
}

TEST_F(Show, OnlyPicturesOfTheSameIndividualAreReplaced) {
  make_run("hc-csc-uniform", "mirror");
  const Viewer view = viewer();
  const fs::path file = view.show(0, pictures_).files.at(0);
  const std::string first = content(file);
  EXPECT_EQ(view.show(0, pictures_).files.at(0), file);
  EXPECT_EQ(content(file), first);  // equal bytes, even

  std::ofstream(file, std::ios::binary) << "precious";
  EXPECT_NE(refusal<FileError>([&] { view.show(0, pictures_); }).find("another directory"),
            std::string::npos);
  EXPECT_EQ(content(file), "precious");

  // The picture of an individual with the same id and other genes.
  fs::copy_file(view.show(1, pictures_).files.at(0), file, fs::copy_options::overwrite_existing);
  const std::string other = content(file);
  EXPECT_THROW(view.show(0, pictures_), FileError);
  EXPECT_EQ(content(file), other);

  EXPECT_THROW(view.show(0, file / "below"), FileError);
}

}  // namespace
}  // namespace aurora
