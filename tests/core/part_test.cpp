#include "aurora/core/part.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/core/values.hpp"

namespace aurora {
namespace {

using Strings = std::vector<std::string>;

/// What the parts of these tests make.
struct Engine {
  virtual ~Engine() = default;
  virtual std::string sound() const = 0;
};

struct Garage {
  std::string owner;
  int made = 0;
};

using EngineEntry = Entry<Engine, Garage>;

struct Common {
  double power = 0.5;
  std::size_t wheels = 4;
};

struct Diesel : Common {
  std::size_t cylinders = 6;
};

/// Says what it was made with.
class Told final : public Engine {
 public:
  explicit Told(std::string told) : told_(std::move(told)) {}
  std::string sound() const override { return told_; }

 private:
  std::string told_;
};

EngineEntry diesel() {
  return part<Diesel>("diesel", "a loud one")
      .option("cylinders", &Diesel::cylinders, 1, 12, "how many")
      .refuses([](const Diesel& config, const Mix& mix) -> std::string {
        if (config.wheels > 4 && mix.learned) return "engine.wheels: too many to learn";
        return mix.task.name == "boat" ? "the task 'boat': no wheels" : "";
      })
      .option("wheels", &Diesel::wheels, 1, 8, "behind the refusal, and of the base")
      .option("power", &Diesel::power, Range{0, 1}, "of the base")
      .without("horse", "one is enough")
      .without("sail", "there is no wind")
      .made_by([](const Diesel& config, Garage& garage) {
        ++garage.made;
        return std::make_unique<Told>(garage.owner + ": " + std::to_string(config.cylinders) + "/" +
                                      std::to_string(config.wheels) + "/" +
                                      real_text(config.power));
      });
}

TEST(PartBuilder, KeepsWhatWasSaid) {
  const EngineEntry entry = diesel();
  EXPECT_EQ(entry.name, "diesel");
  EXPECT_EQ(entry.summary, "a loud one");
  Strings names;
  for (const Option& option : entry.options) names.push_back(option.name);
  EXPECT_EQ(names, (Strings{"cylinders", "wheels", "power"}));
  EXPECT_EQ(entry.without, (std::vector<std::pair<std::string, std::string>>{
                               {"horse", "one is enough"}, {"sail", "there is no wind"}}));
  EXPECT_FALSE(entry.standard);
  EXPECT_EQ(entry.missing, "");
}

TEST(PartBuilder, OptionsHaveTheDefaultsOfTheStructAndItsBase) {
  const EngineEntry entry = diesel();
  EXPECT_EQ(entry.options[0].fallback.toml(), "6");
  EXPECT_EQ(entry.options[1].fallback.toml(), "4");
  EXPECT_EQ(entry.options[2].fallback.toml(), "0.5");
}

TEST(PartBuilder, MakesThePartWithItsValuesAndItsContext) {
  const EngineEntry entry = diesel();
  Garage garage{"Ada"};
  EXPECT_EQ(entry.make({}, garage)->sound(), "Ada: 6/4/0.5");
  EXPECT_EQ(entry.make(values_of(entry, {"wheels=8", "power=0.25"}), garage)->sound(),
            "Ada: 6/8/0.25");
  EXPECT_EQ(garage.made, 2) << "the context is the caller's, not a copy";
}

TEST(PartBuilder, RefusesWithOptionsDeclaredBehindIt) {
  const EngineEntry entry = diesel();
  ASSERT_TRUE(entry.refuses);
  Mix mix;
  EXPECT_EQ(entry.refuses(values_of(entry), mix), "");
  EXPECT_EQ(entry.refuses(values_of(entry, {"wheels=5"}), mix), "engine.wheels: too many to learn");
  mix.learned = false;
  EXPECT_EQ(entry.refuses(values_of(entry, {"wheels=5"}), mix), "");
  mix.task.name = "boat";
  EXPECT_EQ(entry.refuses({}, mix), "the task 'boat': no wheels");
}

TEST(PartBuilder, WithoutARefusalGoesWithEverything) {
  const EngineEntry entry =
      part<NoOptions>("none", "").made_by([](const NoOptions&, const Garage&) {
        return std::make_unique<Told>("");
      });
  EXPECT_FALSE(entry.refuses);
  EXPECT_TRUE(entry.options.empty());
  EXPECT_TRUE(entry.without.empty());
}

TEST(PartBuilder, SharedOptionsStandWhereTheyWereAdded) {
  const auto common = [](Options<Diesel>& options) {
    options.add("wheels", &Diesel::wheels, 1, 8, "").add("power", &Diesel::power, Range{0, 1}, "");
  };
  const EngineEntry entry =
      part<Diesel>("d", "")
          .options(common)
          .option("cylinders", &Diesel::cylinders, 1, 12, "")
          .made_by([](const Diesel& config, const Garage&) {
            return std::make_unique<Told>(std::to_string(config.wheels + config.cylinders));
          });
  Strings names;
  for (const Option& option : entry.options) names.push_back(option.name);
  EXPECT_EQ(names, (Strings{"wheels", "power", "cylinders"}));
  EXPECT_EQ(make_part(entry, {}, {"wheels=2", "cylinders=3"})->sound(), "5");
}

TEST(PartBuilder, SaysWhatIsStandardAndWhatIsMissing) {
  const EngineEntry entry = part<NoOptions>("x", "").standard().missing("a spark").made_by(
      [](const NoOptions&, const Garage&) { return std::make_unique<Told>(""); });
  EXPECT_TRUE(entry.standard);
  EXPECT_EQ(entry.missing, "a spark");
}

TEST(PartBuilder, OneDescriptionBecomesTheEntryOfAnyKindThatFits) {
  struct Other {
    std::string owner = "Eve";
  };
  const auto made =
      part<Common>("x", "y")
          .option("wheels", &Common::wheels, 1, 8, "")
          .refuses([](const Common& config, const Mix&) {
            return std::string(config.wheels == 3 ? "engine.wheels=3: it falls" : "");
          })
          .made_by([](const Common& config, const auto& context) {
            return std::make_unique<Told>(context.owner + std::to_string(config.wheels));
          });
  const EngineEntry engine = made;
  const Entry<Told, Other> told = made;
  EXPECT_EQ(make_part(engine, {.owner = "Ada"}, {"wheels=2"})->sound(), "Ada2");
  EXPECT_EQ(make_part(told, {}, {"wheels=7"})->sound(), "Eve7");
  EXPECT_EQ(engine.refuses(values_of(engine, {"wheels=3"}), {}), "engine.wheels=3: it falls");
  EXPECT_EQ(told.refuses(values_of(told, {"wheels=3"}), {}), "engine.wheels=3: it falls");
}

// --- The registry ---

EngineEntry called(const std::string& name) {
  return part<NoOptions>(name, "").made_by(
      [name](const NoOptions&, const Garage&) { return std::make_unique<Told>(name); });
}

std::string usage_error(const auto& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Registry, KeepsTheOrderInWhichPartsWereAdded) {
  Registry<EngineEntry> registry("motor");
  EXPECT_TRUE(registry.names().empty());
  for (const char* name : {"steam", "diesel", "aardvark"}) registry.add(called(name));
  EXPECT_EQ(registry.names(), (Strings{"steam", "diesel", "aardvark"}));
  ASSERT_EQ(registry.entries().size(), 3U);
  EXPECT_EQ(registry.entries()[1]->name, "diesel");
}

TEST(Registry, FindsByTheWholeName) {
  Registry<EngineEntry> registry("motor");
  for (const char* name : {"steam", "steam-2", "iso+line"}) registry.add(called(name));
  for (const char* name : {"steam", "steam-2", "iso+line"}) {
    EXPECT_EQ(make_part(*registry.find(name), {})->sound(), name);
  }
}

TEST(Registry, AnUnknownNameIsAnsweredWithTheNearest) {
  Registry<EngineEntry> registry("motor");
  for (const char* name : {"steam", "diesel"}) registry.add(called(name));
  EXPECT_EQ(usage_error([&] { registry.find("deisel"); }),
            "there is no motor 'deisel'; did you mean 'diesel'? (known: steam, diesel)");
  EXPECT_EQ(usage_error([&] { registry.find("ste"); }),
            "there is no motor 'ste'; did you mean 'steam'? (known: steam, diesel)");
  EXPECT_NE(usage_error([&] { registry.find("Steam"); }).find("did you mean 'steam'?"),
            std::string::npos);
  EXPECT_NE(usage_error([&] { registry.find(""); }), "nothing was thrown");
  EXPECT_THROW(Registry<EngineEntry>("motor").find("steam"), UsageError) << "there are none";
}

TEST(Registry, RefusesANameThatIsTaken) {
  Registry<EngineEntry> registry("motor");
  registry.add(called("steam"));
  EngineEntry twin = called("steam");
  twin.summary = "another";
  EXPECT_EQ(usage_error([&] { registry.add(twin); }), "the motor 'steam' is already registered");
  ASSERT_EQ(registry.names(), (Strings{"steam"}));
  EXPECT_EQ(registry.find("steam")->summary, "") << "the first one stays";
  EXPECT_NO_THROW(registry.add(called("Steam")));
}

TEST(Registry, RefusesANameThatCouldNotBeThatOfAFile) {
  Registry<EngineEntry> registry("motor");
  const Strings hostile = {"../../evil",
                           "",
                           ".x",
                           "..",
                           "/etc/passwd",
                           "a/b",
                           "a\\b",
                           "a b",
                           "a\n",
                           "-rf",
                           "+x",
                           "_x",
                           "a=b",
                           "a,b",
                           "a;b",
                           "$(x)",
                           "\xC3\xA9",
                           std::string("a\0b", 3),
                           std::string(101, 'a')};
  for (const std::string& name : hostile) {
    const std::string message = usage_error([&] { registry.add(called(name)); });
    EXPECT_NE(message.find("can be called '" + std::string(name.c_str())), std::string::npos)
        << message;
  }
  EXPECT_TRUE(registry.entries().empty());
  EXPECT_NO_THROW(registry.add(called(std::string(100, 'a'))));
}

TEST(Registry, CopiesShareTheEntriesAndGrowApart) {
  Registry<EngineEntry> one("motor");
  one.add(called("steam"));
  Registry<EngineEntry> other = one;
  other.add(called("diesel"));
  EXPECT_EQ(one.find("steam"), other.find("steam"));
  EXPECT_EQ(one.names(), (Strings{"steam"}));
  EXPECT_THROW(one.find("diesel"), UsageError);
}

}  // namespace
}  // namespace aurora
