// Parts: everything that a run is put together from. A part is one file that says all there is to
// know about it: a name, a summary, its options, what it does not go with, and how it is made.
//
//   ContainerEntry dominated_novelty() {
//     return part<DominatedNoveltyConfig>("dns", "the N with the most distance to the fitter")
//         .option("k", &DominatedNoveltyConfig::k, 1, 1000, "fitter neighbours that count")
//         .without("threshold", "it keeps the N best, whatever their distance")
//         .made_by([](const DominatedNoveltyConfig& config, ContainerContext& context) {
//           return std::make_unique<DominatedNovelty>(config, context);
//         });
//   }
//
// docs/extend.md goes through it kind by kind.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/core/names.hpp"
#include "aurora/core/options.hpp"
#include "aurora/core/task_spec.hpp"

namespace aurora {

/// What a part is mixed with. Names are those of the chosen parts; empty where there is none.
struct Mix {
  TaskSpec task;
  std::string loop, encoder, container, threshold, selection, variation;
  bool learned = true;              // descriptors come from an encoder
  std::size_t descriptor_size = 0;  // n
  std::size_t target_size = 0;      // N
  std::size_t batch = 0;            // B
  std::size_t iterations = 0;
  bool ranks = false;   // the selector gives weights, so a population can be ranked
  bool learns = false;  // the selector has columns of its own
};

/// Keys that mean nothing, or kinds none of whose keys does, each with the reason.
using Idle = std::vector<std::pair<std::string, std::string>>;

/// What can be said of a part of any kind.
struct PartInfo {
  std::string name;
  std::string summary;
  std::vector<Option> options;
  /// Kinds of parts that it leaves no place for, with the reason.
  std::vector<std::pair<std::string, std::string>> without;
  /// Metrics alone: measured in every run that does not refuse it.
  bool standard = false;
  /// Empty when the part can be made; otherwise what this build lacks and how to get it.
  std::string missing;
  /// Defaults that depend on what the part is mixed with, in place of the options' own.
  std::vector<std::pair<std::string, std::function<double(const Mix&)>>> depends;
  /// "descriptor.kind=learned: cells need bounds that stay", or empty if it goes with the mix.
  std::function<std::string(const Values&, const Mix&)> refuses;
  /// What means nothing as long as the part has these values.
  std::function<Idle(const Values&, const Mix&)> idle;
};

/// A part that makes a Product.
template <class Product, class Context>
struct Entry : PartInfo {
  std::function<std::unique_ptr<Product>(const Values&, Context&)> make;
};

/// A part whose settings are a struct; made_by() ends the description.
template <class Config>
class PartBuilder {
 public:
  PartBuilder(std::string name, std::string summary) {
    info_.name = std::move(name);
    info_.summary = std::move(summary);
  }

  /// One more option; the arguments are those of Options<Config>::add().
  PartBuilder&& option(std::string name, std::string Config::*field, std::vector<std::string> names,
                       std::string help) && {
    options_.add(std::move(name), field, std::move(names), std::move(help));
    return std::move(*this);
  }
  PartBuilder&& option(std::string name, double Config::*field, const Range& range,
                       std::string help) && {
    options_.add(std::move(name), field, range, std::move(help));
    return std::move(*this);
  }
  template <class Field, class Base, class... More>
  requires std::derived_from<Config, Base> PartBuilder &&
      option(std::string name, Field Base::*field, More&&... more) && {
    options_.add(std::move(name), static_cast<Field Config::*>(field), std::forward<More>(more)...);
    return std::move(*this);
  }
  /// Several at once, for parts that share a few.
  PartBuilder&& options(const std::function<void(Options<Config>&)>& add) && {
    add(options_);
    return std::move(*this);
  }
  /// The default of an option that is a real number depends on the mix.
  PartBuilder&& depends(std::string name, std::function<double(const Mix&)> value) && {
    info_.depends.emplace_back(std::move(name), std::move(value));
    return std::move(*this);
  }
  PartBuilder&& without(std::string kind, std::string reason) && {
    info_.without.emplace_back(std::move(kind), std::move(reason));
    return std::move(*this);
  }
  PartBuilder&& standard() && {
    info_.standard = true;
    return std::move(*this);
  }
  PartBuilder&& missing(std::string what) && {
    info_.missing = std::move(what);
    return std::move(*this);
  }
  /// `reason(config, mix)` gives "KEY=VALUE: the reason", or an empty text.
  PartBuilder&& refuses(std::function<std::string(const Config&, const Mix&)> reason) && {
    refuses_ = std::move(reason);
    return std::move(*this);
  }

  /// `keys(config, mix)` gives what means nothing then: {"algorithm.extinction_survivors",
  /// "algorithm.extinction_period=0: there are no extinctions"}, or {"selection", "..."} for all
  /// keys of a kind. Nobody may say it, but for the value that it has anyway.
  PartBuilder&& idle(std::function<Idle(const Config&, const Mix&)> keys) && {
    idle_ = std::move(keys);
    return std::move(*this);
  }

  /// Becomes the entry of whatever kind is asked for: `make(config, context)` makes the part.
  template <class Make>
  class Made {
   public:
    Made(PartInfo info, Options<Config> options, Make make)
        : info_(std::move(info)), options_(std::move(options)), make_(std::move(make)) {}

    template <class Product, class Context>
    operator Entry<Product, Context>() const {
      Entry<Product, Context> entry;
      static_cast<PartInfo&>(entry) = info_;
      entry.make = [options = options_, make = make_](const Values& values, Context& context) {
        return std::unique_ptr<Product>(make(options.make(values), context));
      };
      return entry;
    }

   private:
    PartInfo info_;
    Options<Config> options_;
    Make make_;
  };

  template <class Make>
  Made<Make> made_by(Make make) && {
    info_.options = options_.list();
    if (refuses_) {
      info_.refuses = [options = options_, reason = refuses_](const Values& values,
                                                              const Mix& mix) {
        return reason(options.make(values), mix);
      };
    }
    if (idle_) {
      info_.idle = [options = options_, keys = idle_](const Values& values, const Mix& mix) {
        return keys(options.make(values), mix);
      };
    }
    return {std::move(info_), std::move(options_), std::move(make)};
  }

 private:
  PartInfo info_;
  Options<Config> options_;
  std::function<std::string(const Config&, const Mix&)> refuses_;
  std::function<Idle(const Config&, const Mix&)> idle_;
};

template <class Config>
PartBuilder<Config> part(std::string name, std::string summary) {
  return {std::move(name), std::move(summary)};
}

/// For parts without options.
struct NoOptions {};

/// The parts of a kind, by name. Copies share the entries, which nobody changes.
template <class EntryType>
class Registry {
 public:
  using Pointer = std::shared_ptr<const EntryType>;

  /// `kind` for messages: "there is no encoder 'x'".
  explicit Registry(std::string kind) : kind_(std::move(kind)) {}

  /// UsageError if the name is taken, or could not be that of a file.
  void add(EntryType entry) {
    if (!is_plain_name(entry.name)) {
      throw UsageError("no " + kind_ + " can be called '" + entry.name +
                       "': a name has letters, digits, '-', '_', '+' and '.', and begins with a "
                       "letter or digit");
    }
    const std::vector<std::string> taken = names();
    if (std::ranges::find(taken, entry.name) != taken.end()) {
      throw UsageError("the " + kind_ + " '" + entry.name + "' is already registered");
    }
    entries_.push_back(std::make_shared<const EntryType>(std::move(entry)));
  }
  const std::vector<Pointer>& entries() const { return entries_; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Pointer& entry : entries_) names.push_back(entry->name);
    return names;
  }
  /// The part called `name`; UsageError names the nearest known one.
  Pointer find(std::string_view name) const {
    for (const Pointer& entry : entries_) {
      if (entry->name == name) return entry;
    }
    throw_unknown(kind_, name, names());
  }

 private:
  std::string kind_;
  std::vector<Pointer> entries_;
};

}  // namespace aurora
