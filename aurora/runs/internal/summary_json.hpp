// A RunSummary as JSON: run.json, and part of a checkpoint. Not installed.
#pragma once

#include "aurora/runs/records.hpp"
#include "aurora/storage/internal/json.hpp"

namespace aurora {

/// Names and values, in their order.
Json numbers_json(const std::vector<NamedNumber>& numbers);

Json summary_json(const RunSummary& summary);

/// DataError if something is missing or of the wrong type.
RunSummary summary_of(const JsonObject& json);

}  // namespace aurora
