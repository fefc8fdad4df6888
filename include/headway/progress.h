/* Background progress for any communication library: small functions (ltasks) that any thread runs
 * when it reaches a polling point. docs/progress.md explains the use on one page.
 *
 * Language:  C11, and C++ (extern "C").
 * Units:     every time is in nanoseconds, every limit counts from the call;
 *            HEADWAY_PROGRESS_FOREVER is no limit, 0 polls once and does not wait.
 * Threads:   every function may be called by any thread, unless it says otherwise. In the flavour
 *            "none" (libheadway_progress_nothread) only one thread may use the library.
 * Progress:  a submitted ltask is run by a thread inside a wait or a poll, a background thread, a
 *            lent thread or a thread scheduler's hook. In the flavour "none", and while all
 *            polling points are off, only by waits, polls and hooks.
 * Errors:    functions return a headway_progress_status. A call that breaks a rule of this header
 *            returns HEADWAY_PROGRESS_MISUSE, changes nothing, and is reported in one line on
 *            standard error; `headway_progress_error` has the text of the calling thread's last
 *            failure. After fork, the child may not use the library: every call reports that.
 * Storage:   the user provides an ltask's memory, usually inside a request; the library allocates
 *            nothing for it. It must not move or be freed while the ltask is submitted.
 */
#ifndef HEADWAY_PROGRESS_H
#define HEADWAY_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define HEADWAY_PROGRESS_FOREVER UINT64_MAX

typedef enum headway_progress_status {
  HEADWAY_PROGRESS_OK = 0,
  HEADWAY_PROGRESS_TIMEOUT = 1,      /* the limit passed first */
  HEADWAY_PROGRESS_ENDED = 2,        /* the ltask had ended already: nothing to do */
  HEADWAY_PROGRESS_MISUSE = -1,      /* a rule was broken; nothing was changed */
  HEADWAY_PROGRESS_SYSTEM = -2,      /* the kernel refused: memory, descriptors, threads */
  HEADWAY_PROGRESS_UNSUPPORTED = -3, /* this flavour cannot do that */
} headway_progress_status;

/* ---- start and end ------------------------------------------------------------------------- */

typedef enum headway_progress_point {
  HEADWAY_PROGRESS_EVENT = 1, /* a thread that sleeps in the kernel on descriptors */
  HEADWAY_PROGRESS_TIMER = 2, /* a thread that wakes at a period (HEADWAY_TIMER_US) */
  HEADWAY_PROGRESS_IDLE = 4,  /* low-priority threads on cores that have nothing else to do */
} headway_progress_point;

typedef struct headway_progress_options {
  size_t size;                /* sizeof(headway_progress_options) */
  unsigned points;            /* a sum of headway_progress_point; 0: none */
  unsigned points_from_user;  /* not 0: HEADWAY_PROGRESS of the environment, not `points` */
  unsigned processes_on_node; /* of this job on this machine, this one included */
  unsigned measured;          /* not 0: headway_progress_counts has all, as with HEADWAY_STATS */
} headway_progress_options;
#define HEADWAY_PROGRESS_OPTIONS {sizeof(headway_progress_options), 0, 1, 1, 0}

/* A process has one engine, which counts its starts: each library that starts it stops it once. The
 * options of the first start apply; NULL: HEADWAY_PROGRESS_OPTIONS. The first start takes about
 * 3 ms. */
int headway_progress_start(const headway_progress_options* options);
/* The last stop joins the background threads. Refused while an ltask is submitted or suspended. */
int headway_progress_stop(void);

/* Why the calling thread's last failing call failed: one line, never NULL. */
const char* headway_progress_error(void);
/* "threads" or "none". */
const char* headway_progress_flavour(void);
/* The library's version: three numbers with dots between them. */
const char* headway_progress_version(void);

/* ---- ltasks -------------------------------------------------------------------------------- */

typedef struct headway_ltask {
  uint64_t opaque[32];
} headway_ltask;

typedef enum headway_ltask_result {
  HEADWAY_LTASK_IDLE = 0,     /* nothing to do now; run again in the next round */
  HEADWAY_LTASK_ADVANCED = 1, /* something advanced; run again soon */
  HEADWAY_LTASK_DONE = 2,     /* ended; the library does not access it any more */
  HEADWAY_LTASK_SUSPEND = 3,  /* do not run until `headway_ltask_resume` */
} headway_ltask_result;

typedef enum headway_ltask_kind {
  HEADWAY_LTASK_REPEAT = 0,   /* runs until it answers DONE or is cancelled */
  HEADWAY_LTASK_ONE_SHOT = 1, /* runs once; only SUSPEND lets it run again */
} headway_ltask_kind;

typedef enum headway_ltask_outcome {
  HEADWAY_LTASK_UNUSED = 0,    /* never submitted */
  HEADWAY_LTASK_PENDING = 1,   /* submitted or suspended */
  HEADWAY_LTASK_FINISHED = 2,  /* ended by itself */
  HEADWAY_LTASK_CANCELLED = 3, /* ended by `headway_ltask_cancel` */
} headway_ltask_outcome;

/* Runs on any thread, never on two at once; each run sees what earlier runs wrote. It must be
 * short, a few microseconds: longer runs are not stopped, but delay other ltasks. It must not wait,
 * poll, cancel or suspend; it may submit other ltasks, resume and ask. */
typedef headway_ltask_result (*headway_ltask_run)(headway_ltask* self, void* argument);
/* Waits in the kernel for what `run` polls for, and then answers like `run`. Must return after at
 * most `limit_ns`, which is also the longest delay of a cancel or suspend. */
typedef headway_ltask_result (*headway_ltask_block)(headway_ltask* self, void* argument,
                                                    uint64_t limit_ns);

enum {
  HEADWAY_LTASK_PLACE_MACHINE = -1,   /* any thread may run it */
  HEADWAY_LTASK_PLACE_SUBMITTER = -2, /* the core of the thread that submits it, preferably */
};

typedef struct headway_ltask_attributes {
  size_t size;      /* sizeof(headway_ltask_attributes) */
  const char* name; /* for messages; the text must live as long as the ltask */
  headway_ltask_run run;
  void* argument;
  headway_ltask_kind kind;
  int place;      /* HEADWAY_LTASK_PLACE_…, or an index below headway_progress_place_count() */
  int descriptor; /* of a repeat ltask: readable while there is something to do; -1: none. One
                     ltask for each descriptor. Without one, the ltask is polled at least every
                     HEADWAY_TIMER_US once no thread spins any more */
  int patient;    /* not 0: a submitted ltask alone does not count as pending, so that background
                     threads may rest. For permanent pollers, which then call
                     headway_progress_pending_started and headway_progress_pending_ended */
  headway_ltask_block block;     /* or NULL; the engine may call it from a thread of its own … */
  uint64_t block_delay_ns;       /* … once `run` has answered IDLE for so long */
  void (*ended)(void* argument); /* or NULL; called last, once for each submission that ends, on
                                    any thread, under the rules of `run`: the ltask may be freed
                                    here, if no thread waits for it */
} headway_ltask_attributes;
#define HEADWAY_LTASK_ATTRIBUTES     \
  {sizeof(headway_ltask_attributes), \
   "ltask",                          \
   NULL,                             \
   NULL,                             \
   HEADWAY_LTASK_REPEAT,             \
   HEADWAY_LTASK_PLACE_MACHINE,      \
   -1,                               \
   0,                                \
   NULL,                             \
   UINT64_C(100000),                 \
   NULL}

/* May be called before headway_progress_start. */
int headway_ltask_init(headway_ltask* task, const headway_ltask_attributes* attributes);
/* Refused while the ltask is submitted. Costs nothing; it need not be called from `ended`. */
int headway_ltask_destroy(headway_ltask* task);

/* Never waits. May be submitted again when it has ended. */
int headway_ltask_submit(headway_ltask* task);
/* Cancels now: returns when the ltask does not run and will not run. ENDED: it had ended before. */
int headway_ltask_cancel(headway_ltask* task);
/* Cancels by handshake: in its next run the ltask learns it by `headway_ltask_asked`, and ends when
 * it has cleaned up; wait for it. A suspended ltask is resumed. Never waits. */
int headway_ltask_ask(headway_ltask* task);
/* For `run`: not 0 after `headway_ltask_ask` for this ltask. */
int headway_ltask_asked(const headway_ltask* task);
/* Returns when the ltask does not run; it will not run until it is resumed. Threads that wait for
 * it continue to wait. ENDED: it had ended before. */
int headway_ltask_suspend(headway_ltask* task);
/* Never waits. If the ltask is not suspended now, its next answer SUSPEND does not suspend it: so
 * an event between the decision to suspend and the answer is not lost. */
int headway_ltask_resume(headway_ltask* task);

/* 1 if the ltask is not submitted (any more), else 0. One load, which makes no progress. */
int headway_ltask_test(const headway_ltask* task);
headway_ltask_outcome headway_ltask_get_outcome(const headway_ltask* task);

/* Any number of threads may wait for one ltask. A wait polls, then sleeps. It returns at once for
 * an ltask that was never submitted. */
int headway_ltask_wait(headway_ltask* task);
int headway_ltask_wait_for(headway_ltask* task, uint64_t limit_ns);
/* NULL entries are skipped; `index` is that of the ltask that ended (the first, if several). */
int headway_ltask_wait_any(headway_ltask* const* tasks, size_t count, uint64_t limit_ns,
                           size_t* index);
int headway_ltask_wait_all(headway_ltask* const* tasks, size_t count, uint64_t limit_ns);

/* ---- polling points ------------------------------------------------------------------------ */

/* Runs one round over everything that is pending: 1 if something advanced, 0 if not. */
int headway_progress_poll(void);
/* Turns a background polling point on or off, also while ltasks run. Not from inside an ltask. */
int headway_progress_turn(int point, int on); /* a headway_progress_point */
int headway_progress_is_on(int point);
/* An operation that patient ltasks work for began or ended. */
int headway_progress_pending_started(void);
int headway_progress_pending_ended(void);

/* Lends the calling thread to the engine: it polls all ltasks and sleeps while nothing is pending,
 * until the limit or `headway_progress_run_end` (OK either way), which ends the calls of all lent
 * threads. */
int headway_progress_run(uint64_t limit_ns);
int headway_progress_run_end(void);

/* Places an ltask can be bound to: the machine's tree, the whole machine first. */
int headway_progress_place_count(void);
const char* headway_progress_place_name(int place); /* "machine", "L3 0", "core 3"; NULL: none */

/* ---- counters ------------------------------------------------------------------------------ */

typedef enum headway_progress_count_kind {
  HEADWAY_PROGRESS_COUNT_QUEUE = 0,  /* of a place: "machine", "core 3" */
  HEADWAY_PROGRESS_COUNT_POINT = 1,  /* a polling point: "explicit", "event", "timer", "idle",
                                        "spare" (a thread on a spare processor), "lent" */
  HEADWAY_PROGRESS_COUNT_THREAD = 2, /* its name and number; "ended": all that ended, together */
} headway_progress_count_kind;

/* What a queue has done since the start, or a point or thread since the process's first start.
 * Rounds, hits, skips and runs of queues are always counted. Everything else, points and threads
 * included, is counted only if headway_progress_options.measured or HEADWAY_STATS asked for it
 * before the start, because a round then reads the clock several times. A field that a kind does
 * not have is 0. */
typedef struct headway_progress_count {
  headway_progress_count_kind kind;
  char name[28];
  uint64_t rounds;          /* visits of a queue that is not empty; rounds of a point or thread */
  uint64_t hits;            /* rounds in which something advanced */
  uint64_t skips;           /* rounds that left a queue out because another thread had its mask */
  uint64_t runs;            /* of ltasks; queues only */
  uint64_t masked_ns;       /* time for which masks were held */
  uint64_t longest_wait_ns; /* of a ready ltask: from its submission to its first run */
  uint64_t waits;           /* of threads: calls that had to wait … */
  uint64_t waited_ns;       /* … and for how long */
  uint64_t sleeps;          /* of threads: in the kernel … */
  uint64_t slept_ns;        /* … and for how long */
} headway_progress_count;

/* Copies at most `count_max` counts, those that are not all 0: queues first, the root's before
 * others, then points, then threads. Returns how many there are, which may be more than
 * `count_max`; or a status below 0. `size` is sizeof(headway_progress_count). Takes tens of
 * microseconds. `headway top` shows the same of a running program with HEADWAY_STATS. */
int headway_progress_counts(headway_progress_count* into, size_t count_max, size_t size);

/* ---- thread schedulers --------------------------------------------------------------------- */

/* A user-level thread scheduler calls these; never from a signal handler. They never wait.
 * on_idle: it has nothing to run. 1: something is pending, call again soon; 0: it may sleep.
 * on_switch: it changes from one thread to another; cheap when nothing is pending.
 * on_tick: its clock ticked. */
int headway_progress_on_idle(void);
int headway_progress_on_switch(void);
int headway_progress_on_tick(void);

/* How a user-level thread waits, so that its kernel thread can run others meanwhile. */
typedef struct headway_progress_scheduler {
  /* The running user-level thread; NULL: the caller is not one and waits as kernel threads do. */
  void* (*current)(void);
  /* Sleeps until `wake` is called for `thread`, also if it was before; at most `limit_ns`. */
  void (*block)(void* thread, uint64_t limit_ns);
  /* On any kernel thread, under a lock of this library: wakes the thread and returns. It must not
     call this library. */
  void (*wake)(void* thread);
} headway_progress_scheduler;
/* For the calling kernel thread; NULL: none. The structure must outlive its use. */
void headway_progress_set_scheduler(const headway_progress_scheduler* scheduler);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
