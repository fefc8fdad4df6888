#include "tools/headway/report.hpp"

#include "tools/headway/shared_program.hpp"

namespace headway::tool {

int report(std::vector<std::string> words) {
  return become_shared_program("report", "report/report", std::move(words));
}

}  // namespace headway::tool
