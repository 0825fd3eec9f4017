// The modules of the page as one plain script: browsers load no modules from files.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/aurora/explore/page.hpp"

namespace aurora::explore {

/// Each module becomes a function that gives what the module exports; `main` and all that it needs
/// come in an order in which nobody is missed. Statements begin a line, in these forms:
///   import { a, b as c } from './x.js';    import * as x from './x.js';    import './x.js';
///   export function, async function, class, const, let NAME    export { a, b as c };
/// DataError at any other, at modules that are not there and at modules that need each other.
std::string bundled(std::span<const PageFile> files, std::string_view main);

}  // namespace aurora::explore
