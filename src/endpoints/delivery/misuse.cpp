#include "endpoints/delivery/misuse.hpp"

#include "base/log.hpp"

namespace headway::endpoints {
namespace {

thread_local constinit wrong last = wrong::none;

}  // namespace

outcome report_misuse(wrong what, const void* data) noexcept {
  last = what;
  base::log(base::severity::warning, "buffer {}: {}", data, text_of(what));
  return outcome::misuse;
}

wrong last_misuse() noexcept { return last; }

}  // namespace headway::endpoints
