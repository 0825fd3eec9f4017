#include "apps/aurora/explore/bundle.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora::explore {
namespace {

std::string bundle_of(const std::vector<PageFile>& files) {
  return bundled(files, "main.js");
}

TEST(Bundle, PutsWhatIsNeededFirst) {
  EXPECT_EQ(
      bundle_of(
          {{"main.js",
            "import { a, b as c } from './x.js';\nimport * as y from \"./y.js\";\na(c, y);\n"},
           {"x.js",
            "import { k } from './y.js';\nexport function a() {}\nconst b2 = k;\n"
            "export { b2 as b };\n"},
           {"y.js",
            "export const k = 1;\nexport async function f() {}\nexport class C {\n}\n"
            "export let last = `\n  import x`;"},
           {"unused.js", "nonsense"}}),
      "(async () => {\n'use strict';\n\n"
      "const module_y = await (async () => {\n"
      "const k = 1;\nasync function f() {}\nclass C {\n}\nlet last = `\n  import x`;\n"
      "return { k, f, C, last };\n})();\n\n"
      "const module_x = await (async () => {\n"
      "const { k } = module_y;\n\nfunction a() {}\nconst b2 = k;\n\n"
      "return { a, b: b2 };\n})();\n\n"
      "const module_main = await (async () => {\n"
      "const { a, b: c } = module_x;\n\nconst y = module_y;\n\na(c, y);\n"
      "return {  };\n})();\n\n"
      "})();\n");
}

TEST(Bundle, TakesListsOverSeveralLines) {
  const std::string text = bundle_of(
      {{"main.js", "import {\n  a,\n  b,\n} from './x.js';\n"}, {"x.js", "export const a = 1;\n"}});
  EXPECT_NE(text.find("const { a, b } = module_x;"), std::string::npos) << text;
}

TEST(Bundle, RefusesWhatItCannotDo) {
  const auto refuses = [](const char* main, const char* other = "") {
    EXPECT_THROW(bundle_of({{"main.js", main}, {"x.js", other}}), DataError) << main;
  };
  refuses("import { a } from './missing.js';");
  refuses("import { a } from 'elsewhere';");
  refuses("import a from './x.js';");
  refuses("import { a } from './x.js'");
  refuses("export default 1;");
  refuses("export * from './x.js';");
  refuses("export { a } from './x.js';");
  refuses("export const { a } = b;");
  refuses("import './x.js';", "import './main.js';");
}

TEST(Bundle, TakesThePageAsItIs) {
  EXPECT_NE(bundled(page_files(), "main.js").find("const module_main"), std::string::npos);
}

}  // namespace
}  // namespace aurora::explore
