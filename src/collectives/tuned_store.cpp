#include "collectives/tuned_store.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/whole_file.hpp"

namespace headway::collectives {
namespace {

constexpr std::size_t file_bytes_max = 256 * 1024;

}  // namespace

tuned_store::tuned_store(const std::filesystem::path& cache, std::string_view host,
                         std::string version, std::string machine)
    : file_(cache.empty() ? cache : cache / "collectives" / base::in_file_name(host)),
      version_(std::move(version)),
      machine_(std::move(machine)) {}

base::result<std::optional<tuned_table>> tuned_store::find() const {
  const auto refused = [](std::string why) {
    return base::failed(base::fault_kind::bad_input, std::move(why));
  };
  if (file_.empty()) return std::optional<tuned_table>();
  const auto text = base::read_trusted_file(file_, file_bytes_max);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::optional<tuned_table>();
  if ((*text)->size() > file_bytes_max) return refused("far too long");
  auto table = tuned_table_of(**text);
  if (!table) return std::unexpected(std::move(table).error());
  if (table->version != version_)
    return refused(fmt::format("it is of version {}, this is {}", table->version, version_));
  if (table->machine != machine_)
    return refused(fmt::format("it is of machine {}, this is {}", table->machine, machine_));
  return std::optional(*std::move(table));
}

base::result<> tuned_store::save(tuned_shape made) const {
  if (file_.empty())
    return base::failed(base::fault_kind::unsupported,
                        "no folder for tables: HEADWAY_CACHE, XDG_CACHE_HOME and HOME are not set");
  auto known = find();
  auto table = known && *known ? *std::move(*known) : tuned_table{version_, machine_, {}};
  table.put(std::move(made));
  return base::replace_file(file_, text_of(table));
}

}  // namespace headway::collectives
