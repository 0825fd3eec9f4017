// The files of a run directory that may come from anybody: links in it are not followed, pipes and
// devices are not opened, and what is too large to be true is not read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "aurora/storage/files.hpp"

namespace aurora::explore {

/// Bytes on the disk that are read of a container or an encoder at most.
inline constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;

/// FileError if something on the way from `run` to `run`/`name` is a symbolic link or, in the end,
/// neither a regular file nor a directory; if it is a directory, the same goes for all that is in
/// it. DataError if its files together have more than `limit` bytes; those called `but` do not
/// count. Nothing is wrong with what is not there.
void check_own(const std::filesystem::path& run, const std::filesystem::path& name,
               std::uint64_t limit, const std::string& but = {});

/// A text that is another one as soon as the file is changed or replaced; empty if it is not there.
std::string stamp_of_file(const std::filesystem::path& file);

/// Opens a table of a run to read from anywhere in it; a descriptor of -1 if there is none.
/// FileError if it is a link, or no regular file.
FileHandle open_own_table(const std::filesystem::path& file);

/// Up to `most` bytes from a place on.
std::string read_piece(const FileHandle& file, std::uint64_t from, std::uint64_t most);

}  // namespace aurora::explore
