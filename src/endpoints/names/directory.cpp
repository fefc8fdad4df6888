#include "endpoints/names/directory.hpp"

namespace headway::endpoints {

bool directory::add(std::string_view name, address owner, std::vector<inquiry>& lookups) {
  auto found = names_.find(name);
  if (found != names_.end()) return found->second.owner == owner;
  if (full()) return false;
  found = names_.emplace(std::string(name), entry{owner, {}}).first;
  const auto [from, to] = waited_for_.equal_range(name);
  for (auto one = from; one != to; ++one) {
    lookups.push_back(one->second);
    found->second.caching.insert(one->second.process);
    asking_.erase(one->second);
  }
  waited_for_.erase(from, to);
  return true;
}

bool directory::remove(std::string_view name, address owner, std::set<std::uint32_t>& caching) {
  const auto found = names_.find(name);
  if (found == names_.end() || found->second.owner != owner) return false;
  caching = std::move(found->second.caching);
  names_.erase(found);
  return true;
}

address directory::ask(std::string_view name, inquiry from, bool wait) {
  const auto found = names_.find(name);
  if (found != names_.end()) {
    found->second.caching.insert(from.process);
    return found->second.owner;
  }
  if (!wait || asking_.size() >= questions_max) return {};
  if (asking_.emplace(from, name).second) waited_for_.emplace(name, from);
  return {};
}

void directory::forget(inquiry from) {
  const auto found = asking_.find(from);
  if (found == asking_.end()) return;
  const auto [begin, end] = waited_for_.equal_range(found->second);
  for (auto one = begin; one != end; ++one) {
    if (one->second != from) continue;
    waited_for_.erase(one);
    break;
  }
  asking_.erase(found);
}

void directory::drop_process(std::uint32_t process) {
  std::erase_if(names_, [&](const auto& one) { return one.second.owner.process == process; });
  for (auto& [name, kept] : names_) kept.caching.erase(process);
  std::erase_if(asking_, [&](const auto& one) { return one.first.process == process; });
  std::erase_if(waited_for_, [&](const auto& one) { return one.second.process == process; });
}

std::uint64_t score_of(std::string_view name, std::uint32_t process) noexcept {
  std::uint64_t h = 0xcbf29ce484222325u ^ (std::uint64_t{process} * 0x9e3779b97f4a7c15u);
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  h ^= h >> 32;  // the last step of splitmix64: each bit depends on all
  h *= 0xbf58476d1ce4e5b9u;
  return h ^ h >> 29;
}

}  // namespace headway::endpoints
