// The files of the page, which are part of the program (see page/ and embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace aurora::explore {

struct PageFile {
  std::string_view name;  // "main.js"
  std::string_view bytes;
};

std::span<const PageFile> page_files();

/// "text/javascript; charset=utf-8", by the ending of a name.
std::string_view type_of(std::string_view name);

}  // namespace aurora::explore
