// Bytes as text (RFC 4648), for JSON and JavaScript.
#pragma once

#include <string>
#include <string_view>

namespace aurora::explore {

std::string to_base64(std::string_view bytes);

/// DataError if it is no such text.
std::string from_base64(std::string_view text);

}  // namespace aurora::explore
