#include "base/result.hpp"

#include <cstring>

namespace headway::base {

std::unexpected<fault> failed_errno(std::string what, int error_number) {
  const auto kind = error_number == ENOMEM || error_number == EMFILE || error_number == ENFILE
                        ? fault_kind::no_memory
                        : fault_kind::system;
  char text[128];
  what += ": ";
  what += strerror_r(error_number, text, sizeof text);
  return std::unexpected(fault{kind, std::move(what)});
}

}  // namespace headway::base
