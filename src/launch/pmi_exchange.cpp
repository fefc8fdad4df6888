#include "launch/pmi_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"
#include "launch/card.hpp"

namespace headway::launch {
namespace {

using base::failed;
using base::fault_kind;

constexpr std::size_t request_bytes_max = 1024;  // what every known server reads as one line
constexpr std::size_t parts_max = 4096;          // of one card: far above card_bytes_max / part
constexpr std::size_t block_bytes_max = std::size_t{1} << 30;
constexpr std::uint64_t question_patience_ns = 1'000'000'000;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::unexpected<base::fault> refused(std::string_view what, const pmi_line& reply) {
  return failed(fault_kind::bad_input,
                fmt::format("the launcher refused {}: '{}'", what, reply.text().substr(0, 200)));
}

}  // namespace

keyed_exchange::keyed_exchange(pmi_wire& wire, std::string space, int rank,
                               std::size_t value_bytes_max)
    : wire_(wire), space_(std::move(space)), rank_(rank) {
  const auto around = fmt::format("cmd=put kvsname={} key={} value=\n", space_,
                                  "headway-1000000000-1000000000-10000")
                          .size();
  const auto room = request_bytes_max > around + 64 ? request_bytes_max - around : 64;
  // One byte for a terminating zero that some servers count, six for "PARTS:".
  part_bytes_max_ = std::max<std::size_t>(std::min(room, value_bytes_max), 16) - 7;
}

std::string keyed_exchange::key(int rank, std::size_t part) const {
  return fmt::format("headway-{}-{}-{}", exchanges_, rank, part);
}

base::result<> keyed_exchange::put(std::size_t part, std::string_view value) {
  const auto name = key(rank_, part);
  auto reply = wire_.ask(fmt::format("cmd=put kvsname={} key={} value={}\n", space_, name, value),
                         "put_result", start_deadline_ns());
  if (!reply) return std::unexpected(reply.error());
  if (!reply->succeeded()) return refused("to keep " + name, *reply);
  return {};
}

base::result<> keyed_exchange::trade(std::span<const std::byte> own_card) {
  const auto text = to_wire_text(own_card);
  const auto parts =
      std::max<std::size_t>((text.size() + part_bytes_max_ - 1) / part_bytes_max_, 1);
  if (parts > parts_max)
    return failed(fault_kind::bad_input, fmt::format("{} bytes are too many to publish through "
                                                     "this launcher",
                                                     own_card.size()));
  ++exchanges_;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto piece = text.substr(part * part_bytes_max_, part_bytes_max_);
    const auto value = part == 0 ? fmt::format("{}:{}", parts, piece) : piece;
    if (auto done = put(part, value); !done) return done;
  }
  auto reply = wire_.ask("cmd=barrier_in\n", "barrier_out", start_deadline_ns());
  if (!reply) return std::unexpected(reply.error());
  if (!reply->succeeded()) return refused("a barrier", *reply);
  return {};
}

base::result<std::string> keyed_exchange::get(int rank, std::size_t part) {
  const auto name = key(rank, part);
  auto reply = wire_.ask(fmt::format("cmd=get kvsname={} key={}\n", space_, name), "get_result",
                         start_deadline_ns());
  if (!reply) return std::unexpected(reply.error());
  const auto value = reply->find("value");
  if (!reply->succeeded() || !value)
    return failed(
        fault_kind::peer_lost,
        fmt::format("rank {} has published nothing (the launcher has no {})", rank, name));
  return std::string(*value);
}

base::result<std::vector<std::byte>> keyed_exchange::card_of(int rank) {
  auto text = get(rank, 0);
  if (!text) return std::unexpected(text.error());
  const auto colon = text->find(':');
  const auto parts =
      colon == std::string::npos ? std::nullopt : decimal(std::string_view(*text).substr(0, colon));
  if (parts && *parts >= 1 && *parts <= static_cast<std::int64_t>(parts_max)) {
    text->erase(0, colon + 1);
    for (std::size_t part = 1; part < static_cast<std::size_t>(*parts); ++part) {
      auto more = get(rank, part);
      if (!more) return std::unexpected(more.error());
      *text += *more;
    }
    if (auto bytes = from_wire_text(*text)) return *std::move(bytes);
  }
  return failed(fault_kind::bad_input,
                fmt::format("what rank {} published came back damaged", rank));
}

base::result<> bulk_exchange::trade(std::span<const std::byte> own_card) {
  auto request = fmt::format("cmd=headway_exchange bytes={}\n", own_card.size());
  request.append(reinterpret_cast<const char*>(own_card.data()), own_card.size());
  const auto deadline_ns = start_deadline_ns();
  auto reply = wire_.ask(request, "headway_cards", deadline_ns);
  if (!reply) {
    if (reply.error().kind == fault_kind::timed_out) reply.error().text += missing_ranks();
    return std::unexpected(reply.error());
  }
  const auto size = reply->number("bytes").value_or(-1);
  if (!reply->succeeded() || size < 0 || size > static_cast<std::int64_t>(block_bytes_max))
    return refused("an exchange", *reply);
  auto block = wire_.receive_bytes(static_cast<std::size_t>(size), deadline_ns);
  if (!block) return std::unexpected(block.error());
  cards_ = *std::move(block);
  by_rank_ = split_cards(cards_, size_);
  if (by_rank_.empty())
    return failed(fault_kind::bad_input, "the cards of the ranks came back damaged");
  return {};
}

/// ": ranks 2,3 have not come", as far as mpiexec still says so.
std::string bulk_exchange::missing_ranks() {
  const auto reply =
      wire_.ask("cmd=headway_missing\n", "headway_missing", base::now_ns() + question_patience_ns);
  const auto ranks = reply ? reply->find("ranks") : std::nullopt;
  return ranks ? fmt::format("; not there yet: rank {}", *ranks) : std::string();
}

base::result<std::vector<std::byte>> bulk_exchange::card_of(int rank) {
  const auto bytes = bytes_of(by_rank_.at(static_cast<std::size_t>(rank)));
  return std::vector(bytes.begin(), bytes.end());
}

std::vector<std::string_view> split_cards(std::string_view block, int size) {
  std::vector<std::string_view> cards;
  for (int rank = 0; rank < size; ++rank) {
    if (block.size() < 4) return {};
    std::size_t length = 0;
    for (int i = 3; i >= 0; --i)
      length = length << 8 | static_cast<unsigned char>(block[static_cast<std::size_t>(i)]);
    block.remove_prefix(4);
    if (length > block.size()) return {};
    cards.push_back(block.substr(0, length));
    block.remove_prefix(length);
  }
  return block.empty() ? cards : std::vector<std::string_view>{};
}

}  // namespace headway::launch
