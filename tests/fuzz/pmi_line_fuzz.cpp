// Any bytes from a launcher, as the PMI client parses them: stream, lines, fields, values.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "launch/pmi1/line_buffer.hpp"
#include "launch/pmi1/pmi_line.hpp"
#include "launch/wire_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headway::launch;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  line_buffer buffer(4096);
  buffer.append(text.substr(0, size / 2));
  buffer.append(text.substr(size / 2));
  while (const auto line = buffer.take_line()) {
    const auto parsed = pmi_line::parse(*line);
    if (!parsed) continue;
    HEADWAY_ASSERT(!parsed->command().empty());
    (void)parsed->number("rc");
    const auto value = parsed->find("value").value_or("");
    HEADWAY_ASSERT(unescaped(escaped(unescaped(value))).size() == unescaped(value).size());
    if (const auto bytes = from_wire_text(value))
      HEADWAY_ASSERT(from_wire_text(to_wire_text(*bytes)) == *bytes);
  }
  return 0;
}
