// Parts made as a user asks for them: "gain=0.1".
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/core/part.hpp"

namespace aurora {

/// What an option makes of NAME=VALUE; UsageError if the part has no such option.
inline std::optional<Value> read_option(const PartInfo& part, std::string_view assignment) {
  const auto [name, value] = parse_assignment(assignment);
  const auto option = std::ranges::find(part.options, name, &Option::name);
  if (option == part.options.end()) throw UsageError(part.name + " has no option " + name);
  return option->read(value);
}

/// The defaults with these NAME=VALUE on them; UsageError if one is not allowed.
inline Values values_of(const PartInfo& part, const std::vector<std::string>& assignments = {}) {
  Values values;
  for (const Option& option : part.options) values[option.name] = option.fallback;
  for (const std::string& assignment : assignments) {
    std::optional<Value> value = read_option(part, assignment);
    if (!value) throw UsageError(assignment + " is not allowed");
    values[parse_assignment(assignment).first] = *std::move(value);
  }
  return values;
}

template <class Product, class Context>
std::unique_ptr<Product> make_part(const Entry<Product, Context>& entry,
                                   const std::type_identity_t<Context>& context,
                                   const std::vector<std::string>& assignments = {}) {
  Context own = context;
  return entry.make(values_of(entry, assignments), own);
}

}  // namespace aurora
