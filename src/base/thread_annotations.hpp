#pragma once

/// Attributes by which Clang checks at compile time that a lock is held where it must be
/// (-Wthread-safety); empty for other compilers.
/// Use:      `HEADWAY_GUARDED_BY(lock_)` behind a member, `HEADWAY_REQUIRES(lock_)` behind a
///           function's parameters. Clang understands base::lock_guard, not std::lock_guard, and
///           base::mutex, not std::mutex: libstdc++ has no such attributes.
/// Source:   https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#ifdef __clang__
#define HEADWAY_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define HEADWAY_THREAD_ATTRIBUTE(x)
#endif

// For types: a lock, and an object that holds one for as long as it lives.
#define HEADWAY_CAPABILITY(name) HEADWAY_THREAD_ATTRIBUTE(capability(name))
#define HEADWAY_SCOPED_CAPABILITY HEADWAY_THREAD_ATTRIBUTE(scoped_lockable)

// For members: read and written under the lock only.
#define HEADWAY_GUARDED_BY(lock) HEADWAY_THREAD_ATTRIBUTE(guarded_by(lock))

// For functions: the caller holds the lock, or must not hold it.
#define HEADWAY_REQUIRES(...) HEADWAY_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define HEADWAY_EXCLUDES(...) HEADWAY_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

// For functions that take or release a lock; without an argument, the object itself. The first
// argument of TRY_ACQUIRE is the return value that means "taken".
#define HEADWAY_ACQUIRE(...) HEADWAY_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define HEADWAY_TRY_ACQUIRE(...) HEADWAY_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define HEADWAY_RELEASE(...) HEADWAY_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))

// For functions that the analysis may rely on: the caller's caller holds the lock.
#define HEADWAY_ASSERT_CAPABILITY(...) HEADWAY_THREAD_ATTRIBUTE(assert_capability(__VA_ARGS__))

/// The function's body is not checked: for locks themselves, and where a comment says why.
#define HEADWAY_NO_THREAD_SAFETY_ANALYSIS HEADWAY_THREAD_ATTRIBUTE(no_thread_safety_analysis)
