#include "windows/wire.hpp"

#include <cstring>

namespace headway::windows {
namespace {

[[nodiscard]] bool is_known(const request_head& head) noexcept {
  return head.what <= action::complete && head.op <= collectives::operation::no_op &&
         head.kind > datatypes::number::none &&
         static_cast<int>(head.kind) < datatypes::number_count && head.lock <= lock_type::exclusive;
}

}  // namespace

std::optional<request_view> take_request(std::span<const std::byte>& rest) noexcept {
  request_view found;
  if (rest.size() < sizeof found.head) return std::nullopt;
  std::memcpy(&found.head, rest.data(), sizeof found.head);
  if (!is_known(found.head)) return std::nullopt;
  const auto behind_head = rest.subspan(sizeof found.head);
  const auto run_bytes = std::size_t{found.head.runs} * sizeof(element_run);
  if (run_bytes > behind_head.size()) return std::nullopt;
  const auto behind_runs = behind_head.subspan(run_bytes);
  const auto payload_bytes = padded(found.head.payload_bytes);
  if (payload_bytes > behind_runs.size()) return std::nullopt;
  found.runs = {reinterpret_cast<const element_run*>(behind_head.data()), found.head.runs};
  found.payload = behind_runs.first(found.head.payload_bytes);
  rest = behind_runs.subspan(payload_bytes);
  return found;
}

std::optional<std::int64_t> elements_of(const request_view& request) noexcept {
  constexpr auto elements_max = std::int64_t{1} << 56;  // their bytes fit into 64 bits
  std::int64_t sum = 0;
  for (const auto& run : request.runs) {
    if (run.count < 0 || run.count > elements_max - sum) return std::nullopt;
    sum += run.count;
  }
  const bool is_bytes = request.head.kind == datatypes::number::byte;
  const auto& one = datatypes::layout::of(request.head.kind);
  const auto bytes = static_cast<std::uint64_t>(sum * one.extent());
  switch (request.head.what) {
    case action::put:
      if (!is_bytes || request.payload.size() != bytes) return std::nullopt;
      break;
    case action::accumulate:
      if (request.payload.size() != bytes) return std::nullopt;
      break;
    case action::fetch:
      if (request.payload.size() != bytes &&
          (request.head.op != collectives::operation::no_op || !request.payload.empty()))
        return std::nullopt;
      break;
    case action::compare_and_swap:
      if (sum != 1 || one.size() != one.extent() || request.payload.size() != 2 * bytes)
        return std::nullopt;
      break;
    case action::put_message:
      if (!is_bytes || request.runs.size() != 1) return std::nullopt;
      break;
    case action::get:
      if (!is_bytes) return std::nullopt;
      break;
    default:
      break;
  }
  return sum;
}

}  // namespace headway::windows
