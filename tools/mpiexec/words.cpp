#include "tools/mpiexec/words.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

namespace headway::mpiexec {

std::string signal_words(int signal_number) {
  const char* name = sigabbrev_np(signal_number);
  const char* meaning = sigdescr_np(signal_number);
  return name && meaning ? fmt::format("SIG{} ({})", name, meaning)
                         : fmt::format("signal {}", signal_number);
}

std::string printable(std::string text) {
  for (auto& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

void say(const std::string& text) noexcept {
  const auto line = "mpiexec: " + text + "\n";
  // A line that cannot be written is lost.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace headway::mpiexec
