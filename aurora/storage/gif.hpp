// Images as GIF files, which every program plays. A GIF has 256 colours: films with more of them
// get the 256 that fit best.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "aurora/pictures/image.hpp"

namespace aurora {

/// The bytes of such a file: frames of one size, shown one after the other over and over; the last
/// one stays for a second. Time goes in hundredths of a second, and a frame stays for two of them
/// at least: players slow down what is faster. `description` is kept in it as a comment. UsageError
/// as with film_bytes(), or if a side has more than 65,535 pixels.
std::string gif_bytes(std::span<const Image> frames, double seconds_per_frame,
                      const std::string& description);

/// Writes them; the file appears whole or not at all (FileError).
void write_gif(const std::filesystem::path& path, std::span<const Image> frames,
               double seconds_per_frame, const std::string& description);

/// The description of a file that write_gif() wrote; empty if it is anything else or missing.
std::string gif_description(const std::filesystem::path& path);

}  // namespace aurora
