// aurora verify: a line for everything that was looked at, and a verdict.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/aurora/commands.hpp"
#include "aurora/runs/verify.hpp"

namespace aurora {

Command add_verify(CLI::App& program, const Parts& parts) {
  struct Arguments {
    std::string run;
    std::size_t replay = 0;
  };
  CLI::App* app = program.add_subcommand(
      "verify", "Checks a run directory: checksums, shapes, metrics, the container's spacing");
  const auto arguments = std::make_shared<Arguments>();
  app->add_option("DIR", arguments->run, "The run directory")->required()->type_name(" ");
  app->add_option("--replay", arguments->replay,
                  "Also evaluate this many random individuals again and compare to the bit")
      ->type_name("K");
  return {app, [arguments, &parts] {
            const std::vector<Check> checks = verify_run(parts, arguments->run, arguments->replay);
            for (const Check& check : checks) {
              print(fmt::format("{:<4} {:<18} {}\n", check.good ? "ok" : "BAD", check.subject,
                                check.finding));
            }
            const auto bad = std::ranges::count(checks, false, &Check::good);
            if (bad == 0) {
              print(fmt::format("{} is whole.\n", arguments->run));
              return 0;
            }
            print(fmt::format("{} is damaged: {} of {} checks failed.\n", arguments->run, bad,
                              checks.size()));
            return 1;
          }};
}

}  // namespace aurora
