#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "report/merge.hpp"

namespace headway::report {

/// The data as one JSON object, which `headway report` reads (tools/report/report).
[[nodiscard]] std::string json_of(const summary& job);
/// A page that needs nothing else: the data, and the script that draws them.
[[nodiscard]] std::string page_of(const summary& job);
/// page.html, with a mark where the data go.
[[nodiscard]] const char* page_template() noexcept;

/// Writes the page of a job to `file`, in whole or not at all.
/// Errors:   `system`, with the file's name.
[[nodiscard]] base::result<> write_page(const summary& job, const std::string& file);

}  // namespace headway::report
