// The exceptions of the library: one hierarchy, so that a caller can catch `aurora::Error` and
// show `what()` to a user. Messages say what was wrong, where, and what would be right.
#pragma once

#include <stdexcept>
#include <string>

namespace aurora {

/// Base of everything the library throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The user asked for something that does not exist or makes no sense (a name, a value, a mix).
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Data from outside is not what it claims to be: shape, range, finiteness, format.
class DataError : public Error {
 public:
  using Error::Error;
};

/// Somebody asked for an end before there was a result.
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// The operating system refused: a path that cannot be read or written, a full disk.
class FileError : public Error {
 public:
  using Error::Error;
};

}  // namespace aurora
