// Images as PNG files: a single one, or an animation (APNG, which every browser plays; programs
// that do not know it show the first frame).
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "aurora/pictures/image.hpp"

namespace aurora {

/// The bytes of such a file: frames of one size, shown one after the other over and over; the last
/// one stays for a second. One frame makes an ordinary PNG. `description` is kept in it as text.
/// UsageError if there is no frame, sizes differ or a frame is shown for less than 0 or more than
/// 60 s.
std::string film_bytes(std::span<const Image> frames, double seconds_per_frame,
                       const std::string& description);

/// Writes them; the file appears whole or not at all (FileError).
void write_film(const std::filesystem::path& path, std::span<const Image> frames,
                double seconds_per_frame, const std::string& description);

/// The description of a file that write_film() wrote; empty if it is anything else or missing.
std::string film_description(const std::filesystem::path& path);

}  // namespace aurora
