#pragma once

#include "launch/card.hpp"
#include "launch/job.hpp"

namespace headway::launch {

/// A process that nobody launched: rank 0 of 1. Waits for nobody; `abort` has nobody to tell and
/// returns.
class single_job final : public job {
 public:
  single_job();
  [[nodiscard]] const identity& who() const noexcept override { return who_; }
  [[nodiscard]] const job_secret& secret() const noexcept override { return secret_; }
  [[nodiscard]] base::result<> publish(std::string_view name,
                                       std::span<const std::byte> value) override;
  [[nodiscard]] base::result<> exchange() override { return {}; }
  [[nodiscard]] base::result<std::vector<std::byte>> lookup(int rank,
                                                            std::string_view name) override;
  void abort(int exit_code, std::string_view why) noexcept override;
  [[nodiscard]] base::result<> finish() override { return {}; }

 private:
  identity who_;
  job_secret secret_;
  card own_;
};

}  // namespace headway::launch
