// The [variant.NAME] tables of a TOML file that is read already. Not installed.
#pragma once

#include <string>
#include <vector>

#include "aurora/runs/variants.hpp"
#include "aurora/storage/internal/toml.hpp"

namespace aurora {

/// Adds them, if there are any; `file` is for messages.
void add_variants_of_table(std::vector<Variant>& variants, const toml::table& table,
                           const std::string& file);

}  // namespace aurora
