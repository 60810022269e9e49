/* SPDX-License-Identifier: Apache-2.0
 * What goes straight from one rank to another: all_to_all (a strand for each peer), broadcast (at the
 * root a strand for each peer), barrier (dissemination), send and receive. */
#include "collectives/step.h"

static void start_exchange(const struct wvp_operation_state* operation, struct wvp_strand* strand,
                           struct wvp_descriptor* d) {
  const struct wvp_comm* comm = operation->comm;
  const struct wvp_command* command = operation->command;
  const uint32_t me = comm->my_index;
  const uint32_t distance = strand->index; /* to the peer that is sent to */
  const uint32_t to = me + distance < comm->size ? me + distance : me + distance - comm->size;
  const uint32_t from = me >= distance ? me - distance : me + comm->size - distance;
  wvp_cut_range(operation, strand->walk, command->src, command->bytes / operation->unit, comm->size);
  strand->walk->share = from;
  if (distance == 0) {
    d->flags |= WVP_D_COPY;
    d->send_addr = wvp_share_address(strand->walk, me);
    d->send_bytes = wvp_share_bytes(strand->walk, me);
    d->combine_addr = command->dst + me * d->send_bytes;
    strand->pending++;
    strand->flags |= WVP_SF_LAST;
    return;
  }
  wvp_send(d, operation, comm->members[to], operation->tag | distance, wvp_share_address(strand->walk, to),
           wvp_share_bytes(strand->walk, to));
  strand->walk->send_to = comm->members[to];
  strand->walk->from = comm->members[from];
  wvp_notify_last(d, strand);
  wvp_expect(d, strand, operation->tag | distance, wvp_share_bytes(strand->walk, me));
}

static void start_star(const struct wvp_operation_state* operation, struct wvp_strand* strand,
                       struct wvp_descriptor* d) {
  const struct wvp_comm* comm = operation->comm;
  const struct wvp_command* command = operation->command;
  strand->walk->address = command->dst;
  if (comm->my_index != command->root) {
    strand->walk->from = comm->members[command->root];
    wvp_expect(d, strand, operation->tag, command->bytes);
    return;
  }
  uint32_t to = command->root + 1 + strand->index;
  if (to >= comm->size) to -= comm->size;
  strand->walk->send_to = comm->members[to];
  wvp_send(d, operation, strand->walk->send_to, operation->tag, command->dst, command->bytes);
  wvp_notify_last(d, strand);
  strand->flags |= WVP_SF_LAST;
}

/* Round k: tell the member 2^k after this one, hear from the one 2^k before. */
static void barrier_round(const struct wvp_operation_state* operation, struct wvp_strand* strand,
                          struct wvp_descriptor* d) {
  const struct wvp_comm* comm = operation->comm;
  const uint32_t distance = 1u << strand->step, me = comm->my_index;
  const uint32_t to = me + distance < comm->size ? me + distance : me + distance - comm->size;
  strand->walk->from = comm->members[me >= distance ? me - distance : me + comm->size - distance];
  strand->walk->send_to = comm->members[to];
  wvp_send(d, operation, strand->walk->send_to, wvp_tag(operation, strand, strand->step), 0, 0);
  wvp_expect(d, strand, wvp_tag(operation, strand, strand->step), 0);
}

void wvp_direct_start(struct wvp_engine* engine, struct wvp_strand* strand) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  const struct wvp_command* command = operation->command;
  struct wvp_descriptor* d = wvp_descriptor(engine, strand);
  switch (operation->machine) {
    case WVP_M_EXCHANGE:
      start_exchange(operation, strand, d);
      break;
    case WVP_M_STAR:
      start_star(operation, strand, d);
      break;
    case WVP_M_BARRIER:
      barrier_round(operation, strand, d);
      break;
    case WVP_M_SEND:
      strand->walk->send_to = command->root;
      wvp_send(d, operation, command->root, operation->tag, command->src, command->bytes);
      wvp_notify_last(d, strand);
      strand->flags |= WVP_SF_LAST;
      break;
    default:
      strand->walk->from = command->root;
      strand->walk->address = command->dst;
      wvp_expect(d, strand, operation->tag, command->bytes);
      break;
  }
  wvp_post(engine);
}

void wvp_direct_received(struct wvp_engine* engine, struct wvp_strand* strand,
                         const struct wvp_completion* completion) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  struct wvp_descriptor* d = wvp_descriptor(engine, strand);
  if (operation->machine == WVP_M_BARRIER) {
    wvp_combine(d, operation, WVP_D_COMBINE_DROP, completion, 0);
    strand->step++;
    if (1u << strand->step < operation->comm->size) {
      barrier_round(operation, strand, d);
    } else {
      strand->flags |= WVP_SF_LAST;
    }
  } else {
    const uint64_t address = operation->machine == WVP_M_EXCHANGE
                                 ? operation->command->dst + strand->walk->share * completion->bytes
                                 : strand->walk->address;
    wvp_combine(d, operation, WVP_D_COMBINE_COPY, completion, address);
    wvp_combine_last(d, strand);
  }
  wvp_post(engine);
}
