#include "tests/simulation/job.hpp"

namespace headway::simulation {

job::job(const job_options& chosen)
    : net_(chosen.processes,
           std::vector(chosen.rails,
                       [&] {
                         auto rail = chosen.rail;
                         rail.severable |= chosen.rails > 1;
                         return rail;
                       }()),
           chosen.difficulty, chosen.seed, chosen.time),
      machine_(topology::machine::read().value()) {
  for (std::uint32_t i = 0; i < chosen.processes; ++i)
    all_.push_back(std::make_unique<process>(
        net_, *machine_, i,
        process_options{.cut_off_ns = chosen.cut_off_ns, .points = chosen.points}));
}

/// With the machine's time, a process that ends waits for the others, so they are polled meanwhile.
job::~job() {
  net_.run_out();
  for (auto& p : all_) p->stop();
}

void job::wake_all() {
  for (std::uint32_t i = 0; i < all_.size(); ++i) net_.wake(i, net_.now_ns());
}

bool job::run_next(std::uint64_t until_ns) {
  const auto awake = net_.next();
  for (const auto one : awake)
    if (!net_.dead(one)) all_[one]->run();
  return !awake.empty() && net_.now_ns() <= until_ns;
}

void job::step() {
  wake_all();
  static_cast<void>(run_next(UINT64_MAX));
}

}  // namespace headway::simulation
