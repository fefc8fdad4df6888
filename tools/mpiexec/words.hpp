#pragma once

#include <string>

namespace headway::mpiexec {

/// Name and description of a signal: "SIGSEGV (Segmentation fault)".
[[nodiscard]] std::string signal_words(int signal_number);

/// A rank's text made safe for a terminal: control characters become '?'.
[[nodiscard]] std::string printable(std::string text);

/// Writes "mpiexec: TEXT" and a newline on standard error, by one call.
void say(const std::string& text) noexcept;

}  // namespace headway::mpiexec
