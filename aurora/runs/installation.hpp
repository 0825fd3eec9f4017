// Where the library lies on this machine.
#pragma once

#include <filesystem>

namespace aurora {

/// The folder of the file that holds this library; empty if the system does not tell.
std::filesystem::path library_folder();

}  // namespace aurora
