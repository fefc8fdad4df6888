#include "launch/pmi1/pmi_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"
#include "launch/wire_text.hpp"

namespace headway::launch {
namespace {

using base::failed;
using base::fault_kind;

constexpr std::size_t request_bytes_max = 1024;  // every known server reads so much as one line
constexpr std::size_t parts_max = 4096;          // of one record: far above record_bytes_max / part

std::unexpected<base::fault> refused(std::string_view what, const pmi_line& reply) {
  return failed(fault_kind::bad_input,
                fmt::format("the launcher refused {}: '{}'", what, reply.text().substr(0, 200)));
}

}  // namespace

pmi_values::pmi_values(pmi_wire& wire, std::string space, int rank, std::size_t value_bytes_max)
    : wire_(wire), space_(std::move(space)), rank_(rank) {
  const auto around = fmt::format("cmd=put kvsname={} key={} value=\n", space_,
                                  "headway-1000000000-1000000000-10000")
                          .size();
  const auto room = request_bytes_max > around + 64 ? request_bytes_max - around : 64;
  // One byte for a terminating zero that some servers count, six for "PARTS:".
  part_bytes_max_ = std::max<std::size_t>(std::min(room, value_bytes_max), 16) - 7;
  HEADWAY_ASSERT(rank >= 0 && !space_.contains('\n'));  // a line of the server's gave it
}

std::string pmi_values::key(int rank, std::size_t part) const {
  return fmt::format("headway-{}-{}-{}", exchanges_, rank, part);
}

base::result<> pmi_values::put_part(std::size_t part, std::string_view value) {
  const auto name = key(rank_, part);
  auto reply = wire_.ask(fmt::format("cmd=put kvsname={} key={} value={}\n", space_, name, value),
                         "put_result", wire_.deadline_ns());
  if (!reply) return std::unexpected(reply.error());
  if (!reply->succeeded()) return refused("to keep " + name, *reply);
  return {};
}

base::result<> pmi_values::put(std::span<const std::byte> value) {
  const auto text = to_wire_text(value);
  const auto parts = (text.size() + part_bytes_max_ - 1) / part_bytes_max_;
  if (parts > parts_max)
    return failed(
        fault_kind::bad_input,
        fmt::format("{} bytes are too many to publish through this launcher", value.size()));
  ++exchanges_;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto piece = text.substr(part * part_bytes_max_, part_bytes_max_);
    if (auto done = put_part(part, part == 0 ? fmt::format("{}:{}", parts, piece) : piece); !done)
      return done;
  }
  return {};
}

base::result<std::string> pmi_values::get_part(int rank, std::size_t part) {
  const auto name = key(rank, part);
  auto reply = wire_.ask(fmt::format("cmd=get kvsname={} key={}\n", space_, name), "get_result",
                         wire_.deadline_ns());
  if (!reply) return std::unexpected(reply.error());
  const auto value = reply->find("value");
  if (!reply->succeeded() || !value)
    return failed(
        fault_kind::peer_lost,
        fmt::format("rank {} has published nothing (the launcher has no {})", rank, name));
  return std::string(*value);
}

base::result<std::vector<std::byte>> pmi_values::value_of(int rank) {
  auto text = get_part(rank, 0);
  if (!text) return std::unexpected(text.error());
  const auto colon = text->find(':');
  const auto parts =
      colon == std::string::npos ? std::nullopt : decimal(std::string_view(*text).substr(0, colon));
  if (parts && *parts >= 1 && *parts <= static_cast<std::int64_t>(parts_max)) {
    text->erase(0, colon + 1);
    for (std::size_t part = 1; part < static_cast<std::size_t>(*parts); ++part) {
      auto more = get_part(rank, part);
      if (!more) return std::unexpected(more.error());
      *text += *more;
    }
    if (auto bytes = from_wire_text(*text)) return *std::move(bytes);
  }
  return failed(fault_kind::bad_input,
                fmt::format("what rank {} published came back damaged", rank));
}

}  // namespace headway::launch
