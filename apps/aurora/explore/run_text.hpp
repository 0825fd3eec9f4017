// A run in JSON, as the page reads it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/aurora/explore/live_run.hpp"
#include "aurora/storage/internal/json.hpp"

namespace aurora::explore {

/// In one line; texts may hold any bytes.
std::string compact(const Json& json);

/// How a run stands, with its number.
Json standing_json(std::size_t number, const std::string& name, const Standing& standing);

/// All that is known of a run; `etag` is that of its newest source.
Json run_json(LiveRun& run, const std::vector<Source>& sources, const std::string& etag);

/// A word for a shell.
std::string shell_quoted(const std::string& text);

}  // namespace aurora::explore
