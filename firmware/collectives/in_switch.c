/* SPDX-License-Identifier: Apache-2.0
 * Collectives by in-network flows. all_reduce is one flow; reduce_scatter and all_gather are as many
 * serial flows as there are members; broadcast is a multicast. */
#include "collectives/step.h"

/* all_gather: member after member casts its share; sends the own one when it is due, else expects. */
static void gather_next(const struct wvp_operation_state* operation, struct wvp_strand* strand,
                        struct wvp_descriptor* d) {
  const struct wvp_comm* comm = operation->comm;
  if (strand->walk->share == comm->my_index) {
    wvp_send_share(operation, strand, d, wvp_cast_from(comm, strand->walk->share), strand->walk->share);
    wvp_notify_sent(d, strand);
    strand->walk->share++;
  }
  if (strand->walk->share < comm->size) {
    wvp_expect_share(operation, strand, d, wvp_cast_from(comm, strand->walk->share), strand->walk->share);
  } else {
    strand->flags |= WVP_SF_LAST;
  }
}

/* reduce_scatter: all shares go in order to the flows that reduce them to their owners. */
void wvp_in_switch_open(struct wvp_engine* engine, struct wvp_strand* strand) {
  struct wvp_operation_state* operation = &engine->operations[strand->slot];
  const struct wvp_comm* comm = operation->comm;
  for (; strand->walk->share < comm->size; strand->walk->share++) {
    if (!wvp_engine_room(engine, 1)) {
      strand->flags |= WVP_SF_OPENING;
      operation->opening = 1;
      engine->stalled = 1;
      return;
    }
    struct wvp_descriptor* d = wvp_descriptor(engine, strand);
    wvp_send_share(operation, strand, d, wvp_reduce_to(comm, strand->walk->share), strand->walk->share);
    if (strand->walk->share == comm->my_index) {
      wvp_expect_share(operation, strand, d, wvp_reduce_to(comm, strand->walk->share), strand->walk->share);
    } else {
      wvp_notify_sent(d, strand); /* the own share's result tells that it has been sent */
    }
    wvp_post(engine);
  }
  strand->flags &= (uint8_t)~WVP_SF_OPENING;
  operation->opening = 0;
  if (!strand->left) strand->flags |= WVP_SF_LAST;
}

void wvp_in_switch_start(struct wvp_engine* engine, struct wvp_strand* strand) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  const struct wvp_comm* comm = operation->comm;
  const struct wvp_command* command = operation->command;
  if (operation->machine == WVP_M_SCATTER || operation->machine == WVP_M_GATHER) {
    wvp_cut_shares(operation, strand, comm->size);
    strand->walk->share = 0;
  } else {
    uint64_t begin, count;
    /* a barrier carries nothing, whatever `bytes` says */
    const uint64_t elements = command->op == WVP_OP_BARRIER ? 0 : command->bytes / operation->unit;
    wvp_chunk_range(operation, strand->index, elements, &begin, &count);
    wvp_cut_range(operation, strand->walk, command->dst + begin * operation->unit, count, 1);
    strand->walk->share = 0;
  }
  if (operation->machine == WVP_M_SCATTER) {
    strand->left = 1;
    wvp_in_switch_open(engine, strand);
    return;
  }
  struct wvp_descriptor* d = wvp_descriptor(engine, strand);
  if (operation->machine == WVP_M_GATHER) {
    gather_next(operation, strand, d);
  } else if (operation->machine == WVP_M_SUM) {
    wvp_send_share(operation, strand, d, comm->flows, 0);
    wvp_expect_share(operation, strand, d, comm->flows, 0);
  } else if (command->root == comm->my_index) {
    wvp_send_share(operation, strand, d, wvp_cast_from(comm, command->root), 0);
    wvp_notify_sent(d, strand);
    strand->flags |= WVP_SF_LAST;
  } else {
    wvp_expect_share(operation, strand, d, wvp_cast_from(comm, command->root), 0);
  }
  wvp_post(engine);
}

void wvp_in_switch_received(struct wvp_engine* engine, struct wvp_strand* strand,
                            const struct wvp_completion* completion) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  struct wvp_descriptor* d = wvp_descriptor(engine, strand);
  switch (operation->machine) {
    case WVP_M_GATHER:
      wvp_combine(d, operation, WVP_D_COMBINE_COPY, completion,
                  wvp_share_address(strand->walk, strand->walk->share));
      strand->walk->share++;
      gather_next(operation, strand, d);
      if (strand->flags & WVP_SF_LAST) wvp_combine_last(d, strand);
      break;
    case WVP_M_SCATTER:
      wvp_combine(d, operation, WVP_D_COMBINE_COPY, completion,
                  wvp_share_address(strand->walk, operation->comm->my_index));
      strand->left = 0;
      wvp_combine_last(d, strand);
      if (strand->flags & WVP_SF_OPENING)
        strand->flags &= (uint8_t)~WVP_SF_LAST; /* sends are still to be posted */
      break;
    default:
      wvp_combine(d, operation,
                  operation->command->op == WVP_OP_BARRIER ? WVP_D_COMBINE_DROP : WVP_D_COMBINE_COPY,
                  completion, strand->walk->address);
      wvp_combine_last(d, strand);
      break;
  }
  wvp_post(engine);
}
