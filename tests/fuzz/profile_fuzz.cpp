// Any bytes as a file of the cache folder, a rail's profile or a table of `headway tune`: they are
// parsed or refused, and what was parsed is the same after it is written and parsed again. They
// are also tried with a correct checksum at their end.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "base/text_lines.hpp"
#include "collectives/choice.hpp"
#include "collectives/tuned_table.hpp"
#include "sampling/record.hpp"

namespace {

void try_table(const std::string& text) {
  const auto t = headway::collectives::tuned_table_of(text);
  if (!t) return;
  const auto again = headway::collectives::tuned_table_of(headway::collectives::text_of(*t));
  HEADWAY_ASSERT(again && *again == *t);
  for (const auto& shape : t->shapes)
    for (const auto& row : shape.rows) {
      const auto use =
          headway::collectives::choose({.what = row.what, .bytes = row.bytes_max}, {}, &shape);
      HEADWAY_ASSERT(headway::collectives::has_algorithm(row.what, use));
    }
}

void try_text(const std::string& text) {
  try_table(text);
  const auto r = headway::sampling::record_of(text);
  if (!r) return;
  const auto again = headway::sampling::record_of(headway::sampling::text_of(*r));
  HEADWAY_ASSERT(again && again->key == r->key && again->hardware == r->hardware);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_text(text);
  try_text(headway::base::with_sum(text));
  return 0;
}
