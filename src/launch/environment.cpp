#include "launch/environment.hpp"

#include <unistd.h>

#include "launch/pmi1/pmi_line.hpp"

namespace headway::launch {

environment environment::of_this_process() noexcept { return environment(environ); }

std::optional<std::string_view> environment::find(std::string_view name) const noexcept {
  for (auto entry = entries_; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    if (text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=')
      return text.substr(name.size() + 1);
  }
  return std::nullopt;
}

std::optional<std::int64_t> environment::number(std::string_view name) const noexcept {
  const auto text = find(name);
  return text ? decimal(*text) : std::nullopt;
}

}  // namespace headway::launch
