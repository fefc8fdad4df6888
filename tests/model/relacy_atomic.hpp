#pragma once

// Lets code that is a template on its atomic type run under Relacy: include before that code.
// Relacy turns `memory_order_acquire` into `mo_acquire, $`; the names are taken into namespace std,
// where Headway's code names them.

#include <atomic>

#include <relacy/relacy.hpp>

// Headway's headers contain `= delete`.
#undef new
#undef delete

namespace std {
using rl::mo_acq_rel;
using rl::mo_acquire;
using rl::mo_relaxed;
using rl::mo_release;
using rl::mo_seq_cst;
}  // namespace std

namespace headway::model {

template <class T>
using atomic = rl::atomic<T>;

}  // namespace headway::model
