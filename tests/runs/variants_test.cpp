#include "aurora/runs/variants.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/runs/plan.hpp"
#include "tests/algorithms/arm.hpp"

namespace aurora {
namespace {

#define EXPECT_SAYS(message, part) \
  EXPECT_NE(std::string(message).find(part), std::string::npos) << (message)

/// The message of the error that an action ends in; empty if there is none.
std::string complaint(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string error_of(const std::string& name) {
  return complaint([&] { find_variant(builtin_parts().variants, name); });
}

std::string stem_of(const Variant& variant) {
  return variant.name.substr(0, variant.name.size() - (variant.name.ends_with("-n") ? 2 : 0));
}

/// A plan of the arm, whose descriptors may have as many dimensions as anybody wants.
Plan plan_of(const std::string& variant, const std::vector<std::string>& more = {}) {
  TaskSpec spec = arm_spec();
  spec.sensory = {{1000}, ElementType::float32};
  return arm_plan(variant, more, arm_parts(spec));
}

TEST(Variants, TheLoopGoesWithTheName) {
  const auto loop = [](const char* name) { return plan_of(name).loop.entry->name; };
  EXPECT_EQ(loop("aurora-csc-uniform"), "quality-diversity");
  EXPECT_EQ(loop("taxons-10"), "taxons");
  EXPECT_EQ(loop("ns"), "novelty-search");
}

TEST(Variants, TheContainerGoesWithTheName) {
  const auto container = [](const char* name) { return plan_of(name).container->entry->name; };
  EXPECT_EQ(container("hc-csc-uniform"), "unstructured");
  EXPECT_EQ(container("map-elites"), "grid");
  EXPECT_EQ(container("cvt-map-elites"), "cvt");
  EXPECT_FALSE(plan_of("ns").container) << "a population has none";
  EXPECT_FALSE(plan_of("taxons").container);
}

TEST(Variants, EachNameSetsItsParts) {
  struct Case {
    std::string name;
    DescriptorKind descriptor;
    std::string threshold;  // empty: there is none
    std::string selection;
    std::size_t dimension;  // 77: left alone
  };
  constexpr DescriptorKind kLearned = DescriptorKind::learned;
  constexpr DescriptorKind kHandCoded = DescriptorKind::hand_coded;
  const std::vector<Case> cases = {
      {"aurora-csc-uniform-10", kLearned, "csc", "uniform", 10},
      {"aurora-csc-uniform", kLearned, "csc", "uniform", 10},
      {"aurora-csc-uniform-5", kLearned, "csc", "uniform", 5},
      {"aurora-csc-uniform-1", kLearned, "csc", "uniform", 1},
      {"aurora-csc-uniform-1000", kLearned, "csc", "uniform", 1000},
      {"aurora-csc-novelty-2", kLearned, "csc", "novelty", 2},
      {"aurora-csc-surprise-20", kLearned, "csc", "surprise", 20},
      {"aurora-vat-uniform-3", kLearned, "vat", "uniform", 3},
      {"aurora-vat-novelty", kLearned, "vat", "novelty", 10},
      {"hc-csc-uniform", kHandCoded, "csc", "uniform", 77},
      {"random-search", kHandCoded, "csc", "none", 77},
      {"aurora-pid-uniform-4", kLearned, "pid", "uniform", 4},
      {"aurora-uniform-3", kLearned, "growing", "uniform", 3},
      {"hc-uniform", kHandCoded, "growing", "uniform", 77},
      {"aurora-tournament-2", kLearned, "csc", "tournament", 2},
      {"hc-tournament", kHandCoded, "csc", "tournament", 77},
      {"taxons-7", kLearned, "", "novelty+surprise", 7},
      {"ns", kHandCoded, "", "novelty", 77},
      {"map-elites", kHandCoded, "", "uniform", 77},
      {"cvt-map-elites", kHandCoded, "", "uniform", 77},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    TaskSpec spec = arm_spec();
    spec.sensory = {{1000}, ElementType::float32};
    // A variant goes before what the task says, and leaves everything else of it alone.
    spec.defaults = {"descriptor.dimension=77", "container.target_size=123"};
    const Plan plan = arm_plan(c.name, {}, arm_parts(spec));
    EXPECT_EQ(plan.run.descriptor, c.descriptor);
    EXPECT_EQ(plan.encoder.has_value(), c.descriptor == kLearned);
    EXPECT_EQ(plan.threshold ? plan.threshold->entry->name : "", c.threshold);
    EXPECT_EQ(plan.selector.entry->name, c.selection);
    EXPECT_EQ(plan.variation.has_value(), c.selection != "none");
    EXPECT_EQ(plan.run.dimension, c.dimension);
    EXPECT_EQ(plan.run.target_size, 123U) << "a variant must leave other keys alone";
    EXPECT_TRUE(plan.departures.empty());
  }
}

TEST(Variants, CompleteNamesCarryTheDimension) {
  const std::vector<Variant> table = builtin_parts().variants;
  const auto complete = [&](const std::string& name) { return find_variant(table, name).name; };
  EXPECT_EQ(complete("aurora-csc-uniform"), "aurora-csc-uniform-10");
  EXPECT_EQ(complete("aurora-csc-novelty-007"), "aurora-csc-novelty-7");
  EXPECT_EQ(complete("hc-csc-uniform"), "hc-csc-uniform");
  for (const Variant& variant : table) {
    const std::string name = stem_of(variant) + (variant.name.ends_with("-n") ? "-3" : "");
    EXPECT_EQ(complete(name), name);
  }
}

TEST(Variants, UnknownNamesFindTheNearest) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"aurora-csc-unifrom-10", "'aurora-csc-uniform-10'"},
      {"aurora-cs-novelty-5", "'aurora-csc-novelty-5'"},
      {"aurora-csc-uniform-n", "'aurora-csc-uniform-10'"},
      {"aurora-csc-uniform-", "'aurora-csc-uniform-10'"},
      {"aurora-csc-uniform-10x", "'aurora-csc-uniform-10'"},
      {"aurora-csc-uniform--5", "'aurora-csc-uniform-5'"},
      {"hc-csc-uniform-2", "'hc-csc-uniform'"},
      {"HC-csc-uniform", "'hc-csc-uniform'"},
      {"random", "'random-search'"},
  };
  for (const auto& [name, nearest] : cases) {
    const std::string message = error_of(name);
    EXPECT_SAYS(message, "'" + name + "'");
    EXPECT_SAYS(message, "did you mean " + nearest);
    EXPECT_SAYS(message, "aurora-csc-surprise-n");
  }
  EXPECT_NE(error_of(""), "");
}

TEST(Variants, DimensionsOutOfRangeNameTheRange) {
  for (const std::string number : {"0", "1001", "99999999999999999999999"}) {
    EXPECT_SAYS(error_of("aurora-csc-uniform-" + number), "from 1 to 1000, not " + number);
  }
}

TEST(Variants, TheTableBeginsWithThePapersAndSaysWhatEachIs) {
  const std::vector<Variant> table = builtin_parts().variants;
  ASSERT_GE(table.size(), 5U);
  EXPECT_EQ(table[0].name, "aurora-csc-uniform-n");
  for (const Variant& variant : table) {
    SCOPED_TRACE(variant.name);
    EXPECT_FALSE(variant.summary.empty());
    EXPECT_FALSE(variant.settings.empty());
    const Plan plan = plan_of(stem_of(variant));
    // Whatever it says is so.
    for (const std::string& text : find_variant(table, stem_of(variant)).settings) {
      const auto [key, value] = parse_assignment(text);
      bool found = false;
      for (const auto& [set, toml] : plan.settings()) {
        if (set != key) continue;
        found = true;
        EXPECT_TRUE(toml == value.text || toml == '"' + value.text + '"') << key << " " << toml;
      }
      EXPECT_TRUE(found) << key;
    }
  }
}

// --- Variants of one's own ---------------------------------------------------------------------

TEST(OwnVariants, AreAsGoodAsOurs) {
  Parts parts = arm_parts();
  add_variant(parts.variants, {.name = "curious-n",
                               .summary = "novel parents, few of them",
                               .settings = {"descriptor.dimension=n", "selection.kind=novelty",
                                            "run.batch=16", "threshold.gain=1e-4"}});
  add_variant(parts.variants,
              {.name = "plain", .summary = "", .settings = {"descriptor.kind=hand-coded"}});
  const Plan curious = arm_plan("curious-3", {}, parts);
  EXPECT_EQ(curious.variant, "curious-3");
  EXPECT_EQ(curious.run.dimension, 3U);
  EXPECT_EQ(curious.run.batch, 16U);
  EXPECT_EQ(curious.selector.entry->name, "novelty");
  EXPECT_EQ(real_of(curious.threshold->values.at("gain")), 1e-4);
  EXPECT_TRUE(curious.departures.empty());
  const Plan changed = arm_plan("curious-3", {"run.batch=8", "run.seed=4"}, parts);
  EXPECT_EQ(changed.departures, std::vector<std::string>{"run.batch = 8 instead of 16"});
  EXPECT_FALSE(arm_plan("plain", {}, parts).encoder);
  EXPECT_SAYS(complaint([&] { arm_plan("curios-3", {}, parts); }), "did you mean 'curious-3'?");
}

TEST(OwnVariants, AreCheckedWhenTheyAreAddedAndWhenTheyAreUsed) {
  std::vector<Variant> table = builtin_parts().variants;
  const std::size_t before = table.size();
  const auto add = [&](const std::string& name, std::vector<std::string> settings) {
    return complaint([&] { add_variant(table, {name, "", std::move(settings)}); });
  };
  EXPECT_SAYS(add("", {}), "cannot be called ''");
  EXPECT_SAYS(add("a/b", {}), "cannot be called 'a/b'");
  EXPECT_SAYS(add("-a", {}), "cannot be called '-a'");
  EXPECT_SAYS(add("mine", {"run.batch"}), "KEY=VALUE");
  EXPECT_SAYS(add("map-elites", {"run.batch=5"}), "'map-elites' is there already, with other");
  EXPECT_EQ(table.size(), before);
  EXPECT_EQ(add("mine", {"run.batch=5"}), "");
  EXPECT_EQ(add("mine", {"run.batch=5"}), "") << "the same again is nothing new";
  EXPECT_SAYS(add("mine", {"run.batch=6"}), "'mine' is there already");
  EXPECT_EQ(table.size(), before + 1);

  Parts parts = arm_parts();
  const auto use = [&](const std::string& name, const std::string& setting) {
    add_variant(parts.variants, {name, "", {setting}});
    return complaint([&] { arm_plan(name, {"descriptor.dimension=2"}, parts); });
  };
  EXPECT_SAYS(use("a", "run.bach=5"), "the variant 'a': there is no option 'run.bach'");
  EXPECT_SAYS(use("b", "run.batch=0"), "the variant 'b': run.batch must be an integer from 1");
  EXPECT_SAYS(use("c", "selection.kind=novlty"), "the variant 'c': selection.kind must be one of");
  EXPECT_EQ(use("d", "threshold.value=1"), "") << "means nothing without threshold.kind=fixed";
}

TEST(OwnVariants, ThatOursWouldHideAreRefused) {
  std::vector<Variant> table = builtin_parts().variants;
  EXPECT_NE(complaint([&] {
              add_variant(table, {"aurora-csc-uniform-5", "", {"run.batch=7"}});
            }),
            "")
      << "the name stands for aurora-csc-uniform-n with 5 dimensions";
}

/// A file that goes when the test ends.
class VariantFile {
 public:
  explicit VariantFile(const std::string& content) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("aurora_variants_test_" + std::to_string(::getpid()) + "_" + std::to_string(++count));
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~VariantFile() { std::filesystem::remove(path_); }
  VariantFile(const VariantFile&) = delete;
  VariantFile& operator=(const VariantFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(VariantsOfAFile, HaveABaseAndSettings) {
  Parts parts = arm_parts();
  const VariantFile file(
      "[variant.curious-5]\n"
      "summary = 'what it is'\n"
      "settings = { selection.kind = 'novelty', encoder.hidden = [7, 5], threshold.gain = 1e-4 }\n"
      "base = 'aurora-csc-uniform-5'\n"
      "[variant.plain.settings]\n"
      "descriptor.kind = 'hand-coded'\n"
      "run.batch = 3\n"
      "[variant.flat]\n"
      "base = 'plain'\n");
  add_variants_of_file(parts.variants, file.path());
  const std::size_t size = parts.variants.size();
  EXPECT_EQ(size, builtin_parts().variants.size() + 3);

  const Plan curious = arm_plan("curious-5", {}, parts);
  EXPECT_EQ(curious.variant, "curious-5");
  EXPECT_EQ(curious.run.dimension, 5U);
  EXPECT_EQ(curious.selector.entry->name, "novelty") << "settings go before the base";
  EXPECT_EQ(sizes_of(curious.encoder->values.at("hidden")), (std::vector<std::size_t>{7, 5}));
  EXPECT_EQ(real_of(curious.threshold->values.at("gain")), 1e-4);
  EXPECT_TRUE(curious.departures.empty());
  const auto named = [&](const std::string& name) {
    return *std::ranges::find(parts.variants, name, &Variant::name);
  };
  EXPECT_EQ(named("curious-5").summary, "what it is");
  EXPECT_EQ(named("plain").summary, "of " + file.path().string());
  for (const char* name : {"plain", "flat"}) {
    const Plan plan = arm_plan(name, {}, parts);
    EXPECT_FALSE(plan.encoder) << name;
    EXPECT_EQ(plan.run.batch, 3U) << name;
  }

  add_variants_of_file(parts.variants, file.path());
  EXPECT_EQ(parts.variants.size(), size) << "the same again is nothing new";
  const VariantFile other("[variant.plain.settings]\nrun.batch = 4\n");
  EXPECT_SAYS(complaint([&] { add_variants_of_file(parts.variants, other.path()); }),
              "'plain' is there already, with other settings");
}

TEST(VariantsOfAFile, MayStartFromOneThatStandsAboveThem) {
  std::vector<Variant> variants = builtin_parts().variants;
  const VariantFile file(
      "[variant.zebra.settings]\nrun.batch = 3\n[variant.ant]\nbase = 'zebra'\n");
  EXPECT_EQ(complaint([&] { add_variants_of_file(variants, file.path()); }), "");
  EXPECT_EQ(find_variant(variants, "ant").settings, std::vector<std::string>{"run.batch=3"});
}

TEST(VariantsOfAFile, ThatAreWrongSayWhatAndWhere) {
  const auto wrong = [](const std::string& content, const std::string& says) {
    const VariantFile file(content);
    std::vector<Variant> variants = builtin_parts().variants;
    const std::string message = complaint([&] { add_variants_of_file(variants, file.path()); });
    EXPECT_SAYS(message, file.path().string());
    EXPECT_SAYS(message, says);
  };
  wrong("", "has no [variant.NAME]");
  wrong("[run]\nseed = 1\n", "has no [variant.NAME]");
  wrong("variant = 3\n", "must be a table");
  wrong("[variant]\nx = 3\n", "[variant.x] must be a table");
  wrong("[variant.x]\nsettigns = {}\n", "[variant.x] has 'settigns'");
  wrong("[variant.x]\nsettings = 3\n", "[variant.x] has 'settings'");
  wrong("[variant.x]\nbase = 3\n", "[variant.x] has 'base'");
  wrong("[variant.x]\nsummary = 3\n", "[variant.x] has 'summary'");
  wrong("[variant.x]\nbase = 'aurora-cs-uniform'\n", "did you mean 'aurora-csc-uniform-10'?");
  wrong("[variant.\"a b\"]\n", "cannot be called 'a b'");
  wrong("[variant.map-elites.settings]\nrun.batch = 5\n", "'map-elites' is there already");
  wrong("[variant.x\n", "this is not TOML");
  std::vector<Variant> variants;
  EXPECT_THROW(add_variants_of_file(variants, "/no/such/aurora/file.toml"), FileError);
}

}  // namespace
}  // namespace aurora
