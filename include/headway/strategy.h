/* A strategy of one's own: which packets to a process leave together and on which rail, and how a
 * large message is divided over the rails. A shared object that exports one function,
 *
 *     const struct headway_strategy* headway_strategy_get(const struct headway_strategy_host*);
 *
 * and that HEADWAY_STRATEGY names by its path: HEADWAY_STRATEGY=/path/strategy.so. docs/strategy.md
 * explains what a strategy is asked when; examples/strategy has a complete one.
 *
 * Threads:  the functions of a strategy are called from any thread, several at once: no state that
 *           changes.
 * Progress: they must not wait, allocate, or call MPI; a few hundred nanoseconds.
 * Errors:   an object that cannot be loaded, lacks the function or is of another version is
 *           reported in one line, and the default strategy is used. An answer that breaks a rule
 *           is replaced by the first packet, or by another division: it costs speed only. */
#ifndef HEADWAY_STRATEGY_H
#define HEADWAY_STRATEGY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef HEADWAY_PUBLIC
#if defined(__GNUC__)
#define HEADWAY_PUBLIC __attribute__((visibility("default")))
#else
#define HEADWAY_PUBLIC
#endif
#endif

/* Of this interface. It changes with anything below. */
#define HEADWAY_STRATEGY_VERSION 2

enum headway_rail_state {
  HEADWAY_RAIL_IDLE = 0, /* takes something now, behind what it has until busy_until_ns */
  HEADWAY_RAIL_BUSY = 1, /* takes something again at busy_until_ns, or soon if that is past */
  HEADWAY_RAIL_DOWN = 2  /* carries nothing to this process until it comes back */
};

/* One rail to one process. Its place in the array is its number. */
struct headway_rail {
  uint32_t state;         /* enum headway_rail_state */
  uint32_t latency_ns;    /* the driver's own guess, one way */
  uint64_t busy_until_ns; /* it has sent what was given to it: predicted, on the clock of now_ns */
  const void* profile;    /* for packet_ns and piece_ns; null: it was not measured */
};

/* What Headway does for a strategy. Valid as long as the program runs. */
struct headway_strategy_host {
  uint32_t version; /* HEADWAY_STRATEGY_VERSION of this Headway */
  uint64_t (*now_ns)(void);
  /* What so many bytes take one way over the rail when it is free, as measured (headway sample) or
   * guessed: in a packet, or put into memory that the receiver has exposed. */
  double (*packet_ns)(const struct headway_rail* rail, uint64_t bytes);
  double (*piece_ns)(const struct headway_rail* rail, uint64_t bytes);
};

/* A packet that waits. */
struct headway_packet {
  uint64_t bytes;  /* head and payload */
  uint32_t urgent; /* 1: it passes those that are not */
  uint32_t reserved;
};

/* What choose is asked. */
struct headway_waiting {
  const struct headway_packet* packets; /* in the order in which they leave: urgent ones first,
                                           otherwise the oldest first */
  size_t packet_count;                  /* at least 1 */
  const struct headway_rail* rails;
  size_t rail_count;
  uint32_t rail;      /* which would take something now */
  size_t packets_max; /* that may leave together */
  uint64_t bytes_max; /* of all of them, if there are several */
};

/* A part of a large message for one rail. */
struct headway_piece {
  uint64_t offset;
  uint64_t bytes;
  uint32_t rail;
  uint32_t whole; /* 1: all of it is to go now; 0: the rest comes back in a later question */
};

struct headway_strategy {
  uint32_t version;  /* HEADWAY_STRATEGY_VERSION when it was compiled */
  uint32_t collects; /* 1: small packets that follow each other closely may be kept for a moment and
                        leave together, where one rail reaches a process and a packet is a system
                        call */
  /* How many of the packets leave now on `rail`; several leave as one. 0: none, they wait for
   * another rail, which is busy. Null: as `sampled`. */
  size_t (*choose)(const struct headway_waiting* what);
  /* Cuts `bytes` from `offset` on into pieces without a gap, in order, at most one for each rail,
   * none for a rail that is down; returns how many. Null: as `sampled`. */
  size_t (*split)(uint64_t offset, uint64_t bytes, const struct headway_rail* rails,
                  size_t rail_count, struct headway_piece* pieces);
};

/* What a strategy defines. The answer must stay valid; null: it refuses, and `sampled` is used. */
HEADWAY_PUBLIC const struct headway_strategy* headway_strategy_get(
    const struct headway_strategy_host* host);

#ifdef __cplusplus
}
#endif

#endif
