#include "launch/pmi1/line_buffer.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace headway::launch {

void line_buffer::append(std::string_view bytes) {
  HEADWAY_ASSERT(taken_ <= bytes_.size());
  bytes_.erase(0, taken_);
  taken_ = 0;
  bytes_.append(bytes);
}

std::optional<std::string_view> line_buffer::take_line() {
  const auto rest = std::string_view(bytes_).substr(taken_);
  const auto end = rest.find('\n');
  if (end == std::string_view::npos || end > line_bytes_max_) return std::nullopt;
  taken_ += end + 1;
  return rest.substr(0, end);
}

bool line_buffer::overlong() const {
  const auto rest = std::string_view(bytes_).substr(taken_);
  return std::min(rest.find('\n'), rest.size()) > line_bytes_max_;
}

}  // namespace headway::launch
