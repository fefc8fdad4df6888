#pragma once

#include "launch/launcher.hpp"

namespace headway::launch {

/// No launcher: rank 0 of 1. Never waits; `abort` only writes the reason to the log.
class single_launcher final : public launcher {
 public:
  single_launcher();
  [[nodiscard]] const identity& who() const noexcept override { return who_; }
  [[nodiscard]] std::optional<job_secret> secret() const override { return std::nullopt; }
  [[nodiscard]] base::result<> publish(std::span<const std::byte> value) override;
  [[nodiscard]] base::result<> barrier() override { return {}; }
  [[nodiscard]] base::result<std::vector<std::byte>> value_of(int) override { return own_; }
  void abort(int exit_code, std::string_view why) noexcept override;
  [[nodiscard]] base::result<> finish() override { return {}; }

 private:
  identity who_;
  std::vector<std::byte> own_;
};

}  // namespace headway::launch
