# `pip install .` compiles the library: says which of Debian's packages are missing for it.
set(missing "")
foreach(pair libeigen3-dev:eigen3/Eigen/Core libfmt-dev:fmt/format.h
             nlohmann-json3-dev:nlohmann/json.hpp libtomlplusplus-dev:toml++/toml.h
             libxxhash-dev:xxhash.h libpng-dev:png.h zlib1g-dev:zlib.h
             librandom123-dev:Random123/philox.h libhwy-dev:hwy/highway.h)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 package)
  list(GET pair 1 header)
  find_path(AURORA_HAS_${package} ${header})
  if(NOT AURORA_HAS_${package})
    list(APPEND missing ${package})
  endif()
endforeach()
find_program(AURORA_HAS_pkg-config pkg-config)
if(NOT AURORA_HAS_pkg-config)
  list(APPEND missing pkg-config)
endif()
if(missing)
  list(JOIN missing " " missing)
  message(FATAL_ERROR "These Debian packages are missing; install them and try again:\n"
                      "  apt-get install --no-install-recommends ${missing}")
endif()
