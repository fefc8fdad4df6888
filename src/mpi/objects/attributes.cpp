#include "mpi/objects/attributes.hpp"

#include <mpi.h>

#include <algorithm>
#include <unordered_map>

#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/datatypes/datatype.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/objects/keyvals.hpp"
#include "mpi/one_sided/window.hpp"

namespace headway::mpi {
namespace {

struct keyval_table {
  base::mutex lock;
  std::unordered_map<int, std::shared_ptr<keyval>> by_key HEADWAY_GUARDED_BY(lock);
  /// Of freed keys, until no attribute has them: programs may free them again.
  std::unordered_map<int, std::weak_ptr<keyval>> freed HEADWAY_GUARDED_BY(lock);
  int next HEADWAY_GUARDED_BY(lock) = 0x10000;  // above the predefined keys
};

keyval_table& keyvals() {
  static auto* const made = new keyval_table;
  return *made;
}

template <class T, class Function>
int call_copy(const keyval& key, object& from, void* in, void** out, int* flag) {
  return reinterpret_cast<Function*>(key.copy)(handle_of(static_cast<T*>(&from)), key.key,
                                               key.extra_state, in, out, flag);
}

template <class T, class Function>
int call_remove(const keyval& key, object& owner, void* value) {
  return reinterpret_cast<Function*>(key.remove)(handle_of(static_cast<T*>(&owner)), key.key, value,
                                                 key.extra_state);
}

/// Calls a key's copy callback. If it sets `flag`, the new object gets the attribute with the value
/// `out`.
int copy_one(const keyval& key, object& from, void* in, void** out, int* flag) {
  *out = in;
  if (key.copy == nullptr) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  if (reinterpret_cast<std::uintptr_t>(key.copy) == 1) {  // MPI_X_DUP_FN
    *flag = 1;
    return MPI_SUCCESS;
  }
  switch (key.kind) {
    case object_kind::comm:
      return call_copy<communicator, MPI_Comm_copy_attr_function>(key, from, in, out, flag);
    case object_kind::type:
      return call_copy<datatype, MPI_Type_copy_attr_function>(key, from, in, out, flag);
    default:
      return call_copy<window, MPI_Win_copy_attr_function>(key, from, in, out, flag);
  }
}

int remove_one(const keyval& key, object& owner, void* value) {
  if (key.remove == nullptr) return MPI_SUCCESS;
  switch (key.kind) {
    case object_kind::comm:
      return call_remove<communicator, MPI_Comm_delete_attr_function>(key, owner, value);
    case object_kind::type:
      return call_remove<datatype, MPI_Type_delete_attr_function>(key, owner, value);
    default:
      return call_remove<window, MPI_Win_delete_attr_function>(key, owner, value);
  }
}

int failed(int code, const char* which, int key) {
  return fail(code, "the {} callback of attribute key {} returned {}", which, key, code);
}

}  // namespace

int add_keyval(const keyval& made) {
  auto& all = keyvals();
  const base::lock_guard held(all.lock);
  auto shared = std::make_shared<keyval>(made);
  shared->key = all.next++;
  all.by_key.emplace(shared->key, shared);
  return shared->key;
}

std::shared_ptr<keyval> find_keyval(int key, object_kind kind) {
  auto& all = keyvals();
  const base::lock_guard held(all.lock);
  const auto at = all.by_key.find(key);
  return at == all.by_key.end() || at->second->kind != kind ? nullptr : at->second;
}

bool free_keyval(int key, object_kind kind) {
  auto& all = keyvals();
  const base::lock_guard held(all.lock);
  std::erase_if(all.freed, [](const auto& each) { return each.second.expired(); });
  const auto at = all.by_key.find(key);
  if (at == all.by_key.end()) {
    const auto before = all.freed.find(key);
    const auto attached = before == all.freed.end() ? nullptr : before->second.lock();
    return attached && attached->kind == kind;
  }
  if (at->second->kind != kind) return false;
  all.freed.emplace(key, at->second);
  all.by_key.erase(at);
  return true;
}

attribute_set::~attribute_set() = default;

int attribute_set::set(object& owner, int key, void* value) {
  const auto known = find_keyval(key, owner.kind());
  if (!known) return fail(MPI_ERR_KEYVAL, "{} is no attribute key, or a freed one", key);
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [&](const entry& each) { return each.key->key == key; });
  if (at == entries_.end()) {
    entries_.push_back({known, value});
    return MPI_SUCCESS;
  }
  if (const int code = remove_one(*known, owner, at->value); code != MPI_SUCCESS) {
    return failed(code, "delete", key);
  }
  at->value = value;
  return MPI_SUCCESS;
}

bool attribute_set::get(int key, void*& value) const {
  for (const entry& each : entries_) {
    if (each.key->key != key) continue;
    value = each.value;
    return true;
  }
  return false;
}

int attribute_set::remove(object& owner, int key) {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [&](const entry& each) { return each.key->key == key; });
  if (at == entries_.end()) {
    if (find_keyval(key, owner.kind())) return MPI_SUCCESS;
    return fail(MPI_ERR_KEYVAL, "{} is no attribute key, or a freed one", key);
  }
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the callback may change entries_
  const entry taken = *at;
  if (const int code = remove_one(*taken.key, owner, taken.value); code != MPI_SUCCESS) {
    return failed(code, "delete", key);
  }
  std::erase_if(entries_, [&](const entry& each) { return each.key == taken.key; });
  return MPI_SUCCESS;
}

int attribute_set::copy_from(object& from_owner, const attribute_set& from) {
  for (const entry& each : from.entries_) {
    void* out = nullptr;
    int flag = 0;
    const int code = copy_one(*each.key, from_owner, each.value, &out, &flag);
    if (code != MPI_SUCCESS) return failed(code, "copy", each.key->key);
    if (flag) entries_.push_back({each.key, out});
  }
  return MPI_SUCCESS;
}

int attribute_set::clear(object& owner) {
  while (!entries_.empty()) {
    const entry last = entries_.back();
    if (const int code = remove_one(*last.key, owner, last.value); code != MPI_SUCCESS) {
      return failed(code, "delete", last.key->key);
    }
    std::erase_if(entries_, [&](const entry& each) { return each.key == last.key; });
  }
  return MPI_SUCCESS;
}

}  // namespace headway::mpi
