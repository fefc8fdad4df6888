#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/pmi_wire.hpp"

namespace headway::launch {

/// How the ranks' cards get from one to the others. Two implementations: one for every PMI-1
/// server, and one round trip for our own `mpiexec`.
/// Threads:  one.
class pmi_exchange {
 public:
  virtual ~pmi_exchange() = default;
  /// Gives our card and returns when every rank has done so.
  [[nodiscard]] virtual base::result<> trade(std::span<const std::byte> own_card) = 0;
  /// What `rank` gave at the last exchange.
  [[nodiscard]] virtual base::result<std::vector<std::byte>> card_of(int rank) = 0;
};

/// Through the server's key-value space: put, barrier; a card is got when it is asked for.
/// Shape:    key "headway-EXCHANGE-RANK-PART"; the value of part 0 is "PARTS:TEXT", of the others
///           "TEXT", each at most `value_bytes_max` long and each request at most 1024 bytes.
class keyed_exchange final : public pmi_exchange {
 public:
  keyed_exchange(pmi_wire& wire, std::string space, int rank, std::size_t value_bytes_max);
  [[nodiscard]] base::result<> trade(std::span<const std::byte> own_card) override;
  [[nodiscard]] base::result<std::vector<std::byte>> card_of(int rank) override;

 private:
  [[nodiscard]] std::string key(int rank, std::size_t part) const;
  [[nodiscard]] base::result<> put(std::size_t part, std::string_view value);
  [[nodiscard]] base::result<std::string> get(int rank, std::size_t part);

  pmi_wire& wire_;
  std::string space_;
  int rank_;
  std::size_t part_bytes_max_;
  int exchanges_ = 0;
};

/// The extension of our own `mpiexec`: "cmd=headway_exchange bytes=N" and the card; answered, when
/// all ranks are there, by "cmd=headway_cards bytes=M" and all cards in order of rank, each after
/// four bytes (low byte first) with its length. When they do not come in time, "headway_missing"
/// asks who is late.
class bulk_exchange final : public pmi_exchange {
 public:
  bulk_exchange(pmi_wire& wire, int size) : wire_(wire), size_(size) {}
  [[nodiscard]] base::result<> trade(std::span<const std::byte> own_card) override;
  [[nodiscard]] base::result<std::vector<std::byte>> card_of(int rank) override;

 private:
  [[nodiscard]] std::string missing_ranks();

  pmi_wire& wire_;
  int size_;
  std::string cards_;
  std::vector<std::string_view> by_rank_;
};

/// Cuts the block of `bulk_exchange` into `size` cards. Empty if it is not such a block.
[[nodiscard]] std::vector<std::string_view> split_cards(std::string_view block, int size);

}  // namespace headway::launch
