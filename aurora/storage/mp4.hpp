// Films as MP4 files, by the program ffmpeg if the machine has it.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "aurora/pictures/image.hpp"

namespace aurora {

/// FileError, with what to do, unless there is a program ffmpeg on the PATH.
void require_ffmpeg();

/// Writes frames of one size; the last one stays for a second. Colours are as good as the format
/// keeps them. `description` is kept in the file as a comment. The file appears whole or not at
/// all. FileError if there is no ffmpeg or it fails, with its reason; UsageError as with
/// write_film().
void write_mp4(const std::filesystem::path& path, std::span<const Image> frames,
               double seconds_per_frame, const std::string& description);

/// The description of a file that write_mp4() wrote; empty if it is anything else or missing.
std::string mp4_description(const std::filesystem::path& path);

}  // namespace aurora
