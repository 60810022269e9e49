/* SPDX-License-Identifier: Apache-2.0
 * The schedule engine. An operation is a row of strands (chunks, or streams to one peer); a strand is a
 * sequential generator of steps, and a step is one descriptor: combine what came, send, expect. Steps
 * are made when they are due and never stored. See README.md. */
#ifndef WAFERVP_COLLECTIVES_ENGINE_H
#define WAFERVP_COLLECTIVES_ENGINE_H

#include <stdint.h>

#include "wafervp/hal.h"

/* Strands in flight on one rank. Each slot owns one, so that each operation always goes on and no two
 * operations can starve each other on different ranks; the others are shared. */
#define WVP_SHARED_STRANDS 64u
#define WVP_STRANDS (WVP_SLOTS + WVP_SHARED_STRANDS)

#define WVP_CACHE_LINE 64u

/* Cookies of the compute engine: of a slot, or WVP_SLOTS for the command that blocks; others are strands. */
#define WVP_COMPUTE_COOKIE 0x80000000u

/* Which generator makes the steps of an operation. */
enum wvp_machine {
  WVP_M_RING,     /* ring, ring_both and hierarchical: ring.c */
  WVP_M_TREE,     /* all_reduce on trees: tree.c */
  WVP_M_SUM,      /* in_switch all_reduce, barrier: in_switch.c */
  WVP_M_SCATTER,  /* in_switch reduce_scatter */
  WVP_M_GATHER,   /* in_switch all_gather */
  WVP_M_CAST,     /* in_switch broadcast */
  WVP_M_LOAD,     /* load: memory.c */
  WVP_M_STORE,    /* store */
  WVP_M_RELAY,    /* relay broadcast: relay.c */
  WVP_M_STAR,     /* direct broadcast: direct.c */
  WVP_M_EXCHANGE, /* direct all_to_all */
  WVP_M_BARRIER,  /* dissemination */
  WVP_M_SEND,
  WVP_M_RECEIVE,
};

enum wvp_strand_flags {
  WVP_SF_LIVE = 1u << 0,
  WVP_SF_OPENING = 1u << 1,   /* sends of an opening are still to be posted (the descriptor ring was full, or
                                 a tree's root waits for its sum) */
  WVP_SF_LAST = 1u << 2,      /* all steps are posted; only `pending` completions are missing */
  WVP_SF_EXPECTING = 1u << 3, /* a receive is posted */
  WVP_SF_INNER = 1u << 4,     /* the phase goes along x: inside a switch */
};

/* Where a strand's data lies and whom it talks to stands in its walk, so that the message engine can go on
 * from where firmware is. In a walk that firmware uses alone:
 * share: ring: position of the next segment to receive; else the next share, peer or round
 * shares: ring: members of the ring; relay: chunks
 * from: whose message is expected, NPU or WVP_FROM_FLOW | flow
 * tag: of that message */
struct wvp_strand {
  struct wvp_walk* walk; /* of the strand's number */
  uint32_t step;         /* number of the message that is expected (or sent) next, part of its tag */
  uint32_t left; /* messages of this phase that firmware has still to handle, besides `left` of the walk */
  uint16_t piece, pieces; /* ring: parts of a segment that lie apart, each a message */
  uint16_t index;         /* of the strand in its operation */
  uint16_t pending;       /* SENT and COPIED completions to come */
  uint8_t slot;
  uint8_t phase;
  uint8_t kind; /* ring: enum wvp_ring_kind of the phase */
  uint8_t flags;
};

struct wvp_operation_state {
  uint64_t tag; /* of its messages, without strand and step */
  const struct wvp_command* command;
  const struct wvp_comm* comm;
  uint32_t strands, next, live, limit; /* in all, next to start, in flight, most in flight */
  uint32_t index;                      /* of the command in the program */
  uint32_t chunks;                     /* of each order, or of the whole where there are no orders */
  uint32_t x_share;                    /* share of the data whose chunks go x first, in 1/65536 */
  uint16_t age;                        /* operations started before, for priorities */
  uint8_t running;
  uint8_t opening; /* a strand's sends into flows are still to be posted */
  uint8_t machine;
  uint8_t hierarchical;
  uint8_t orders;               /* 1, or 2: even strands go x first, odd ones y first; in a ring that is not
                                   hierarchical even ones go forward, odd ones backward */
  uint8_t unit;                 /* bytes of the smallest thing that a share is made of */
  uint8_t dtype, traffic_class; /* of the command */
  uint16_t send_flags;          /* of its descriptors with SEND */
};

/* The first cache line has all that each completion needs. */
struct wvp_engine {
  const struct wvp_hal* hal;
  uint32_t dq_size, dq_head, dq_tail, dq_rung; /* head: as last read; rung: as last told by doorbell */
  uint32_t cq_size, cq_head;
  uint64_t free_shared; /* bit i: strand WVP_SLOTS + i is free */
  uint32_t reserve;     /* descriptors kept free for completions that are about to be handled */
  uint32_t hungry;      /* bit i: the operation in slot i found no free strand, or has to wait for its turn */
  uint32_t started;     /* operations so far */
  uint32_t
      computing;   /* bit i: a computation of slot i runs; bit WVP_SLOTS: the one that blocks the program */
  uint8_t stopped; /* EXIT was written */
  uint8_t stalled; /* the descriptor ring was full when something was to be posted */
  uint8_t ended;   /* something has ended since the program was last looked at */
  _Alignas(WVP_CACHE_LINE) struct wvp_operation_state operations[WVP_SLOTS];
  struct wvp_strand strands[WVP_STRANDS];
};

/* engine.c */
void wvp_engine_init(struct wvp_engine* engine, const struct wvp_hal* hal);
/* Enters the operation of a START command. 0: refused, EXIT was written. */
int wvp_engine_enter(struct wvp_engine* engine, const struct wvp_command* command, uint32_t index,
                     const struct wvp_comm* comms, uint32_t comm_count);
/* Ends the strand if it waits for nothing more, and starts others in its place. */
void wvp_engine_settle(struct wvp_engine* engine, struct wvp_strand* strand);
/* completions.c: handles all new completions. */
void wvp_engine_take(struct wvp_engine* engine);
/* Goes on with what a full descriptor ring or a lack of strands had stopped. */
void wvp_engine_resume(struct wvp_engine* engine);
/* Writes the error registers and EXIT. */
void wvp_engine_fail(struct wvp_engine* engine, uint32_t status, uint32_t index, uint32_t peer,
                     uint64_t expected, uint64_t found);
/* How many of `wanted` descriptors can be posted, after a look at the message engine's index. */
uint32_t wvp_engine_find_room(struct wvp_engine* engine, uint32_t wanted);
/* How many of `wanted` descriptors can be posted now. */
static inline uint32_t wvp_engine_room(struct wvp_engine* engine, uint32_t wanted) {
  const uint32_t used = engine->dq_tail - engine->dq_head + engine->reserve;
  return used + wanted <= engine->dq_size ? wanted : wvp_engine_find_room(engine, wanted);
}
/* Tells the message engine of all posted descriptors. */
static inline void wvp_engine_ring(struct wvp_engine* engine) {
  if (engine->dq_rung == engine->dq_tail) return;
  engine->dq_rung = engine->dq_tail;
  engine->hal->write32(engine->hal->bus, WVP_REG_DQ_DOORBELL, engine->dq_tail);
}
void wvp_engine_phase(struct wvp_engine* engine, uint32_t kind, uint32_t index);

/* choose.c: fills machine, chunks, orders, strands, limit; returns an enum wvp_exit. */
uint32_t wvp_choose(struct wvp_operation_state* operation);
/* choose.c: elements [*begin, *begin + *count) of `elements` that chunk number `strand` moves. */
void wvp_chunk_range(const struct wvp_operation_state* operation, uint32_t strand, uint64_t elements,
                     uint64_t* begin, uint64_t* count);

/* Generators: `start` posts the first step of a strand (or sets WVP_SF_OPENING), `open` goes on with
 * such an opening, `received` makes the step that an expected message allows. */
void wvp_ring_start(struct wvp_engine* engine, struct wvp_strand* strand);
void wvp_ring_open(struct wvp_engine* engine, struct wvp_strand* strand);
void wvp_ring_received(struct wvp_engine* engine, struct wvp_strand* strand,
                       const struct wvp_completion* completion);
void wvp_tree_start(struct wvp_engine* engine, struct wvp_strand* strand);
void wvp_tree_open(struct wvp_engine* engine, struct wvp_strand* strand);
void wvp_tree_received(struct wvp_engine* engine, struct wvp_strand* strand,
                       const struct wvp_completion* completion);
void wvp_in_switch_start(struct wvp_engine* engine, struct wvp_strand* strand);
void wvp_in_switch_open(struct wvp_engine* engine, struct wvp_strand* strand);
void wvp_in_switch_received(struct wvp_engine* engine, struct wvp_strand* strand,
                            const struct wvp_completion* completion);
void wvp_memory_start(struct wvp_engine* engine, struct wvp_strand* strand);
void wvp_memory_open(struct wvp_engine* engine, struct wvp_strand* strand);
void wvp_memory_received(struct wvp_engine* engine, struct wvp_strand* strand,
                         const struct wvp_completion* completion);
void wvp_relay_start(struct wvp_engine* engine, struct wvp_strand* strand);
void wvp_relay_open(struct wvp_engine* engine, struct wvp_strand* strand);
void wvp_relay_received(struct wvp_engine* engine, struct wvp_strand* strand,
                        const struct wvp_completion* completion);
void wvp_direct_start(struct wvp_engine* engine, struct wvp_strand* strand);
void wvp_direct_received(struct wvp_engine* engine, struct wvp_strand* strand,
                         const struct wvp_completion* completion);

/* Bytes of the message that the strand expects. */
uint64_t wvp_strand_expects(const struct wvp_engine* engine, const struct wvp_strand* strand);
uint64_t wvp_ring_expects(const struct wvp_operation_state* operation, const struct wvp_strand* strand);
/* waiting.c: as wvp_waiting(); `blocked` is the slot that the program waits for, or WVP_SLOTS. */
uint32_t wvp_engine_waiting(const struct wvp_engine* engine, uint32_t blocked, struct wvp_waiting* entries,
                            uint32_t capacity);

#endif
