/* SPDX-License-Identifier: Apache-2.0
 * Broadcast along the chain root, root + 1, ... of the communicator: each member passes on a chunk when
 * it has it whole, while the next one comes in. One strand; a step is a chunk. */
#include "collectives/step.h"

void wvp_relay_open(struct wvp_engine* engine, struct wvp_strand* strand) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  for (; strand->walk->share < strand->walk->shares; strand->walk->share++) {
    if (!wvp_engine_room(engine, 1)) {
      strand->flags |= WVP_SF_OPENING;
      engine->stalled = 1;
      return;
    }
    struct wvp_descriptor* d = wvp_descriptor(engine, strand);
    wvp_send(d, operation, strand->walk->send_to, wvp_tag(operation, strand, strand->walk->share),
             wvp_share_address(strand->walk, strand->walk->share),
             wvp_share_bytes(strand->walk, strand->walk->share));
    if (strand->walk->share + 1 == strand->walk->shares) wvp_notify_last(d, strand);
    wvp_post(engine);
  }
  strand->flags = (uint8_t)((strand->flags & ~WVP_SF_OPENING) | WVP_SF_LAST);
}

void wvp_relay_start(struct wvp_engine* engine, struct wvp_strand* strand) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  const struct wvp_comm* comm = operation->comm;
  const struct wvp_command* command = operation->command;
  const uint32_t next = comm->my_index + 1 == comm->size ? 0 : comm->my_index + 1;
  const uint32_t previous = comm->my_index ? comm->my_index - 1 : comm->size - 1;
  wvp_cut_range(operation, strand->walk, command->dst, command->bytes / operation->unit, operation->chunks);
  strand->walk->shares = operation->chunks;
  strand->walk->share = 0;
  strand->walk->send_to = comm->members[next];
  strand->pieces = next != command->root; /* passes on */
  if (comm->my_index == command->root) {
    wvp_relay_open(engine, strand);
    return;
  }
  strand->walk->from = comm->members[previous];
  strand->left = operation->chunks;
  struct wvp_descriptor* d = wvp_descriptor(engine, strand);
  wvp_expect(d, strand, wvp_tag(operation, strand, 0), wvp_share_bytes(strand->walk, 0));
  wvp_post(engine);
}

void wvp_relay_received(struct wvp_engine* engine, struct wvp_strand* strand,
                        const struct wvp_completion* completion) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  const uint64_t address = wvp_share_address(strand->walk, strand->walk->share);
  struct wvp_descriptor* d = wvp_descriptor(engine, strand);
  wvp_combine(d, operation, WVP_D_COMBINE_COPY, completion, address);
  strand->left--;
  if (strand->pieces) {
    wvp_send(d, operation, strand->walk->send_to, wvp_tag(operation, strand, strand->walk->share), address,
             completion->bytes);
    if (!strand->left) wvp_notify_last(d, strand);
  }
  strand->walk->share++;
  if (strand->left) {
    wvp_expect(d, strand, wvp_tag(operation, strand, strand->walk->share),
               wvp_share_bytes(strand->walk, strand->walk->share));
  } else {
    wvp_combine_last(d, strand);
  }
  wvp_post(engine);
}
