/* SPDX-License-Identifier: Apache-2.0
 * Loads from and stores to off-wafer memory, through in-network flows. The vector lies in as many shares as
 * the group has I/O controllers, share i at controller i. A load casts each share to all NPUs of the group; a
 * store sums the NPUs' vectors and brings each share to its controller. */
#include "collectives/step.h"

/* A store: all shares of an NPU go into the flows that sum them up for the controllers. */
void wvp_memory_open(struct wvp_engine* engine, struct wvp_strand* strand) {
  struct wvp_operation_state* operation = &engine->operations[strand->slot];
  const struct wvp_comm* comm = operation->comm;
  for (; strand->walk->share < comm->io_controllers; strand->walk->share++) {
    if (!wvp_engine_room(engine, 1)) {
      strand->flags |= WVP_SF_OPENING;
      operation->opening = 1;
      engine->stalled = 1;
      return;
    }
    struct wvp_descriptor* d = wvp_descriptor(engine, strand);
    wvp_send_share(operation, strand, d, wvp_reduce_to(comm, strand->walk->share), strand->walk->share);
    wvp_notify_sent(d, strand);
    wvp_post(engine);
  }
  strand->flags &= (uint8_t)~WVP_SF_OPENING;
  operation->opening = 0;
  strand->flags |= WVP_SF_LAST;
}

void wvp_memory_start(struct wvp_engine* engine, struct wvp_strand* strand) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  const struct wvp_comm* comm = operation->comm;
  const struct wvp_command* command = operation->command;
  const int load = operation->machine == WVP_M_LOAD;
  const uint32_t me = comm->my_index;
  wvp_cut_range(operation, strand->walk, command->dst, command->bytes / operation->unit,
                comm->io_controllers);
  strand->walk->share = 0;
  if (!load && me >= comm->io_controllers) {
    wvp_memory_open(engine, strand);
    return;
  }
  struct wvp_descriptor* d = wvp_descriptor(engine, strand);
  if (!load) {
    strand->walk->share = me;
    wvp_expect_share(operation, strand, d, wvp_reduce_to(comm, me), me);
  } else if (me < comm->io_controllers) {
    wvp_send_share(operation, strand, d, wvp_cast_from(comm, me), me);
    wvp_notify_sent(d, strand);
    strand->flags |= WVP_SF_LAST;
  } else {
    wvp_expect_share(operation, strand, d, wvp_cast_from(comm, 0), 0);
  }
  wvp_post(engine);
}

void wvp_memory_received(struct wvp_engine* engine, struct wvp_strand* strand,
                         const struct wvp_completion* completion) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  const struct wvp_comm* comm = operation->comm;
  struct wvp_descriptor* d = wvp_descriptor(engine, strand);
  wvp_combine(d, operation, WVP_D_COMBINE_COPY, completion,
              wvp_share_address(strand->walk, strand->walk->share));
  const uint32_t next = strand->walk->share + 1;
  if (operation->machine == WVP_M_LOAD && next < comm->io_controllers) {
    strand->walk->share = next;
    wvp_expect_share(operation, strand, d, wvp_cast_from(comm, next), next);
  } else {
    wvp_combine_last(d, strand);
  }
  wvp_post(engine);
}
