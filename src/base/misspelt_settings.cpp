#include "base/misspelt_settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/once_a_job.hpp"
#include "base/spelling.hpp"
#include "base/tunable.hpp"

namespace headway::base {

void report_misspelt_settings() {
  constexpr std::string_view prefix = "HEADWAY_";
  std::vector<std::string_view> known;  // without the prefix, so that it makes no word near
  for (const auto* one : tunable::all())
    known.push_back(std::string_view(one->name()).substr(prefix.size()));
  for (auto entry = environ; entry && *entry; ++entry) {
    std::string_view name(*entry);
    if (!name.starts_with(prefix)) continue;
    name = name.substr(prefix.size(), name.find('=') - prefix.size());
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto near = nearest_word(name, known);
    if (near.empty()) continue;
    const auto line = fmt::format("{0}{1} is no setting: did you mean {0}{2}?", prefix, name, near);
    if (first_of_job(line)) log_line(severity::warning, line);
  }
}

}  // namespace headway::base
