#pragma once

#include <string>

namespace headway::mpiexec {

/// "SIGSEGV (Segmentation fault)".
[[nodiscard]] std::string signal_words(int signal_number);

/// Text from a rank on its way to a terminal: control characters become '?'.
[[nodiscard]] std::string printable(std::string text);

/// Writes "mpiexec: TEXT" and a newline on standard error, in one piece.
void say(const std::string& text) noexcept;

}  // namespace headway::mpiexec
