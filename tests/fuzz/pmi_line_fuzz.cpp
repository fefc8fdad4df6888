// Bytes from a launcher, as the client reads them: stream, lines, fields, values, cards.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "launch/card.hpp"
#include "launch/line_buffer.hpp"
#include "launch/pmi_exchange.hpp"
#include "launch/pmi_line.hpp"

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
    const auto bytes = from_wire_text(value);
    if (!bytes) continue;
    if (const auto entries = unpack_card(*bytes)) HEADWAY_ASSERT(unpack_card(pack_card(*entries)));
  }
  (void)unpack_card(std::as_bytes(std::span(data, size)));
  (void)split_cards(text, static_cast<int>(size % 5));
  return 0;
}
