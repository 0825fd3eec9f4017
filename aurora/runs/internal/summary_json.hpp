// A RunSummary as JSON: run.json, and part of a checkpoint. Not installed.
#pragma once

#include "aurora/runs/internal/json.hpp"
#include "aurora/runs/records.hpp"

namespace aurora {

Json summary_json(const RunSummary& summary);

/// DataError if something is missing or of the wrong type.
RunSummary summary_of(const JsonObject& json);

}  // namespace aurora
