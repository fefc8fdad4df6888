#pragma once

#include <string_view>

namespace headway::mpi::tools {

/// The category of a setting of that name, as text for a user: its name, and what it is about.
struct category_text {
  const char* name;
  const char* why;
};
[[nodiscard]] category_text category_of_setting(std::string_view name) noexcept;

}  // namespace headway::mpi::tools
