/* SPDX-License-Identifier: Apache-2.0
 * Ring (one way or both ways round) and hierarchical 2-D collectives. A strand is a row of ring phases; a
 * phase passes segments downwards: rank r sends r-1 (or its own, r, when it only gathers), then each time
 * what it has just received and combined. Where the segments are the shares of one vector in their order, the
 * message engine walks through the middle of a phase, and firmware sees to its ends only. */
#include "collectives/step.h"

enum wvp_ring_kind { RING_REDUCE_SCATTER, RING_ALL_GATHER, RING_ALL_REDUCE };

static int x_first(const struct wvp_operation_state* operation, const struct wvp_strand* strand) {
  return operation->orders == 2 ? !(strand->index & 1u) : operation->x_share != 0;
}

/* The strand goes round against the order of the members: member i counts as n-1-i. */
static inline int is_backward(const struct wvp_operation_state* operation, const struct wvp_strand* strand) {
  return !operation->hierarchical && operation->orders == 2 && (strand->index & 1u);
}

static uint32_t phases(const struct wvp_operation_state* operation) {
  if (!operation->hierarchical) return 1;
  return operation->command->op == WVP_OP_ALL_REDUCE ? 3 : 2;
}

/* Messages of a hierarchical reduce_scatter or all_gather are shares of the whole group's grid. Those of a
 * backward ring are counted from the other end; in an all_reduce it does not matter which is which. */
static inline uint32_t share_index(const struct wvp_operation_state* operation,
                                   const struct wvp_strand* strand) {
  if (operation->command->op == WVP_OP_ALL_REDUCE) return strand->walk->share;
  if (!operation->hierarchical) {
    return is_backward(operation, strand) ? operation->comm->size - 1 - strand->walk->share
                                          : strand->walk->share;
  }
  const uint32_t dim_x = operation->comm->dim_x;
  return strand->flags & WVP_SF_INNER ? strand->piece * dim_x + strand->walk->share
                                      : strand->walk->share * dim_x + strand->piece;
}

static void set_ring(const struct wvp_comm* comm, struct wvp_strand* strand, uint32_t first, uint32_t stride,
                     uint32_t size, uint32_t position) {
  const uint32_t next = position + 1 == size ? 0 : position + 1;
  const uint32_t previous = position ? position - 1 : size - 1;
  strand->walk->shares = size;
  strand->walk->send_to = comm->members[first + next * stride];
  strand->walk->from = comm->members[first + previous * stride];
  strand->walk->share = strand->kind == RING_ALL_GATHER ? position : previous;
}

/* The same ring the other way round. */
static void turn_round(const struct wvp_comm* comm, struct wvp_strand* strand) {
  const uint32_t position = comm->size - 1 - comm->my_index, next = strand->walk->send_to;
  strand->walk->send_to = strand->walk->from;
  strand->walk->from = next;
  strand->walk->share = strand->kind == RING_ALL_GATHER ? position : position ? position - 1 : comm->size - 1;
}

/* Sets the strand up for its phase, or for the next one that has more than one member; 0: none is left. */
static int enter_phase(const struct wvp_operation_state* operation, struct wvp_strand* strand) {
  const struct wvp_comm* comm = operation->comm;
  const struct wvp_command* command = operation->command;
  const uint32_t op = command->op;
  if (!operation->hierarchical) {
    if (strand->phase > 0 || comm->size == 1) return 0;
    strand->kind = op == WVP_OP_ALL_REDUCE       ? RING_ALL_REDUCE
                   : op == WVP_OP_REDUCE_SCATTER ? RING_REDUCE_SCATTER
                                                 : RING_ALL_GATHER;
    strand->pieces = 1;
    strand->piece = 0;
    if (op == WVP_OP_ALL_REDUCE) {
      uint64_t begin, count;
      wvp_chunk_range(operation, strand->index, command->bytes / operation->unit, &begin, &count);
      wvp_cut_range(operation, strand->walk, command->dst + begin * operation->unit, count, comm->size);
    } else {
      wvp_cut_shares(operation, strand, comm->size);
    }
    set_ring(comm, strand, 0, 1, comm->size, comm->my_index);
    if (is_backward(operation, strand)) turn_round(comm, strand);
    strand->left = (comm->size - 1) * (strand->kind == RING_ALL_REDUCE ? 2 : 1);
    return 1;
  }

  const uint32_t dim_x = comm->dim_x, dim_y = comm->dim_y;
  const uint32_t y = comm->my_index / dim_x, x = comm->my_index - y * dim_x;
  const int first_is_x = x_first(operation, strand);
  const uint32_t first_size = first_is_x ? dim_x : dim_y, second_size = first_is_x ? dim_y : dim_x;
  const uint32_t first_position = first_is_x ? x : y;
  for (; strand->phase < phases(operation); strand->phase++) {
    /* all_reduce: first, second, first; reduce_scatter: first, second; all_gather: the mirror image. */
    const int on_first = op == WVP_OP_ALL_GATHER ? strand->phase == 1 : strand->phase != 1;
    const int on_x = on_first ? first_is_x : !first_is_x;
    const uint32_t size = on_x ? dim_x : dim_y;
    if (size == 1) continue;
    strand->pieces = 1;
    strand->piece = 0;
    if (op == WVP_OP_ALL_REDUCE) {
      uint64_t begin, count;
      strand->kind = strand->phase == 0   ? RING_REDUCE_SCATTER
                     : strand->phase == 1 ? RING_ALL_REDUCE
                                          : RING_ALL_GATHER;
      wvp_chunk_range(operation, strand->index, command->bytes / operation->unit, &begin, &count);
      wvp_cut_range(operation, strand->walk, command->dst + begin * operation->unit, count, first_size);
      if (!on_first) {
        const uint64_t address = wvp_share_address(strand->walk, first_position);
        const uint64_t bytes = wvp_share_bytes(strand->walk, first_position);
        wvp_cut_range(operation, strand->walk, address, bytes / operation->unit, second_size);
      }
    } else {
      strand->kind = op == WVP_OP_ALL_GATHER ? RING_ALL_GATHER : RING_REDUCE_SCATTER;
      wvp_cut_shares(operation, strand, comm->size);
      if (on_first) {
        strand->pieces = (uint16_t)second_size;
      } else {
        strand->piece = (uint16_t)first_position;
      }
    }
    strand->flags &= (uint8_t)~WVP_SF_INNER;
    if (on_x) strand->flags |= WVP_SF_INNER;
    set_ring(comm, strand, on_x ? y * dim_x : x, on_x ? 1 : dim_x, size, on_x ? x : y);
    strand->left = (size - 1) * strand->pieces * (strand->kind == RING_ALL_REDUCE ? 2u : 1u);
    return 1;
  }
  return 0;
}

/* Whether the end of the phase's last send has to be awaited: not where later messages of the operation
 * prove that it has been received. */
static inline int watches_last_send(const struct wvp_operation_state* operation,
                                    const struct wvp_strand* strand) {
  return strand->kind != RING_REDUCE_SCATTER || operation->command->op == WVP_OP_REDUCE_SCATTER;
}

/* No phase after one whose last send is watched has more than one member. */
static int is_last_phase(const struct wvp_operation_state* operation, const struct wvp_strand* strand) {
  if (!operation->hierarchical || strand->phase + 1u == phases(operation)) return 1;
  return (strand->flags & WVP_SF_INNER ? operation->comm->dim_y : operation->comm->dim_x) == 1;
}

static void watch_last_send(const struct wvp_operation_state* operation, struct wvp_strand* strand,
                            struct wvp_descriptor* d) {
  if (!watches_last_send(operation, strand)) return;
  if (is_last_phase(operation, strand)) {
    wvp_notify_last(d, strand);
  } else {
    wvp_notify_sent(d, strand);
  }
}

/* Which of the waiting messages of a flow goes first. Both orders at once (mesh): the older operation, then
 * the earlier phase, so that no chunk's start waits for another one's end. One order (FRED): the phase
 * between switches (y), then the older operation, then the older chunk. */
static inline uint32_t priority(const struct wvp_operation_state* operation,
                                const struct wvp_strand* strand) {
  if (operation->orders == 2) return (uint32_t)operation->age << 2 | strand->phase;
  return (strand->flags & WVP_SF_INNER ? 1u << 31 : 0u) | (operation->age & 0x7fffu) << 16 | strand->index;
}

static inline void send(const struct wvp_operation_state* operation, struct wvp_strand* strand,
                        struct wvp_descriptor* d, uint32_t step, uint64_t address, uint64_t bytes) {
  wvp_send(d, operation, strand->walk->send_to, wvp_tag(operation, strand, step), address, bytes);
  if (operation->hierarchical) {
    d->flags |= WVP_D_WINDOW;
    d->priority = priority(operation, strand);
  }
}

static inline int reduces(const struct wvp_strand* strand) {
  return strand->kind == RING_REDUCE_SCATTER ||
         (strand->kind == RING_ALL_REDUCE && strand->left >= strand->walk->shares);
}

/* How many steps from here on are alike. The last two of a phase are not: what one sends may be watched, and
 * the other sends nothing. */
static uint32_t walk_steps(const struct wvp_operation_state* operation, const struct wvp_strand* strand) {
  const int in_order = operation->command->op == WVP_OP_ALL_REDUCE ||
                       (!operation->hierarchical && !is_backward(operation, strand));
  if (!in_order || strand->left <= 2) return 0;
  const uint32_t steps = strand->left - 2, gathers = strand->walk->shares - 1;
  if (strand->kind != RING_ALL_REDUCE || strand->left <= gathers) return steps;
  return strand->left - gathers < steps ? strand->left - gathers : steps;
}

static void expect_next(const struct wvp_operation_state* operation, struct wvp_strand* strand,
                        struct wvp_descriptor* d) {
  struct wvp_walk* walk = strand->walk;
  wvp_expect(d, strand, wvp_tag(operation, strand, strand->step),
             wvp_share_bytes(walk, share_index(operation, strand)));
  const uint32_t steps = walk_steps(operation, strand);
  if (!steps) return;
  d->flags |= WVP_D_WALK;
  walk->left = steps;
  walk->flags &= (uint8_t) ~(WVP_W_REDUCE | WVP_W_WINDOW);
  if (reduces(strand)) walk->flags |= WVP_W_REDUCE;
  walk->traffic_class = operation->traffic_class;
  if (operation->hierarchical) {
    walk->flags |= WVP_W_WINDOW;
    walk->priority = priority(operation, strand);
  }
  strand->left -= steps;
}

/* Sends the first segment of the phase, piece by piece, and expects the first message. `d` already has a
 * COMBINE part, or is null. */
static void open_phase(struct wvp_engine* engine, struct wvp_strand* strand, struct wvp_descriptor* d) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  for (;;) {
    if (!d) {
      if (!wvp_engine_room(engine, 1)) {
        strand->flags |= WVP_SF_OPENING;
        engine->stalled = 1;
        return;
      }
      d = wvp_descriptor(engine, strand);
    }
    const uint32_t number = strand->pieces == 1 ? 0 : strand->piece;
    const uint32_t share = share_index(operation, strand);
    send(operation, strand, d, strand->step + number, wvp_share_address(strand->walk, share),
         wvp_share_bytes(strand->walk, share));
    if (number + 1 == strand->pieces) break;
    strand->piece++;
    wvp_post(engine);
    d = 0;
  }
  if (strand->left == strand->pieces) watch_last_send(operation, strand, d);
  if (strand->pieces > 1) strand->piece = 0;
  strand->walk->share = strand->walk->share ? strand->walk->share - 1 : strand->walk->shares - 1;
  strand->flags &= (uint8_t)~WVP_SF_OPENING;
  expect_next(operation, strand, d);
  wvp_post(engine);
}

void wvp_ring_open(struct wvp_engine* engine, struct wvp_strand* strand) { open_phase(engine, strand, 0); }

void wvp_ring_start(struct wvp_engine* engine, struct wvp_strand* strand) {
  if (enter_phase(&engine->operations[strand->slot], strand)) {
    open_phase(engine, strand, 0);
  } else {
    strand->flags |= WVP_SF_LAST;
  }
}

void wvp_ring_received(struct wvp_engine* engine, struct wvp_strand* strand,
                       const struct wvp_completion* completion) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  struct wvp_descriptor* d = wvp_descriptor(engine, strand);
  const uint64_t address = wvp_share_address(strand->walk, share_index(operation, strand));
  strand->step = (uint32_t)completion->tag & (WVP_MAX_STEPS - 1);
  wvp_combine(d, operation, reduces(strand) ? WVP_D_COMBINE_REDUCE : WVP_D_COMBINE_COPY, completion, address);
  strand->left--;
  if (strand->left >= strand->pieces) {
    send(operation, strand, d, strand->step + strand->pieces, address, completion->bytes);
    if (strand->left == strand->pieces) watch_last_send(operation, strand, d);
  }
  strand->step++;
  if (strand->left) {
    if (strand->pieces == 1 || ++strand->piece == strand->pieces) {
      if (strand->pieces > 1) strand->piece = 0;
      strand->walk->share = strand->walk->share ? strand->walk->share - 1 : strand->walk->shares - 1;
    }
    expect_next(operation, strand, d);
    wvp_post(engine);
    return;
  }
  strand->phase++;
  if (enter_phase(operation, strand)) {
    open_phase(engine, strand, d);
    return;
  }
  wvp_combine_last(d, strand);
  wvp_post(engine);
}

uint64_t wvp_ring_expects(const struct wvp_operation_state* operation, const struct wvp_strand* strand) {
  return wvp_share_bytes(strand->walk, share_index(operation, strand));
}
