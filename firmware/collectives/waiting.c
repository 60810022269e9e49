/* SPDX-License-Identifier: Apache-2.0
 * What operations wait for, for reports. */
#include "collectives/step.h"

uint64_t wvp_strand_expects(const struct wvp_engine* engine, const struct wvp_strand* strand) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  switch (operation->machine) {
    case WVP_M_RING:
      return wvp_ring_expects(operation, strand);
    case WVP_M_SCATTER:
    case WVP_M_EXCHANGE:
      return wvp_share_bytes(strand->walk, operation->comm->my_index);
    case WVP_M_SUM:
    case WVP_M_GATHER:
    case WVP_M_CAST:
    case WVP_M_LOAD:
    case WVP_M_STORE:
    case WVP_M_RELAY:
    case WVP_M_TREE:
      return wvp_share_bytes(strand->walk, strand->walk->share);
    case WVP_M_BARRIER:
      return 0;
    default:
      return operation->command->bytes;
  }
}

static void describe(const struct wvp_engine* engine, const struct wvp_strand* strand,
                     struct wvp_waiting* entry) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  entry->command = operation->index;
  entry->op = operation->command->op;
  entry->chunk = strand->index;
  const uint32_t step =
      strand->flags & WVP_SF_EXPECTING ? (uint32_t)strand->walk->tag & (WVP_MAX_STEPS - 1) : strand->step;
  entry->step = operation->machine == WVP_M_RING || operation->machine == WVP_M_BARRIER ? step
                : operation->machine == WVP_M_RELAY || operation->machine == WVP_M_GATHER ||
                        operation->machine == WVP_M_LOAD
                    ? strand->walk->share
                : operation->machine == WVP_M_TREE ? strand->kind
                                                   : 0;
  if (strand->flags & WVP_SF_EXPECTING) {
    entry->peer = strand->walk->from;
    entry->bytes = wvp_strand_expects(engine, strand);
    return;
  }
  entry->bytes = 0;
  switch (operation->machine) {
    case WVP_M_CAST:
    case WVP_M_GATHER:
    case WVP_M_LOAD:
      entry->peer =
          WVP_FROM_FLOW | (operation->comm->flows + 1 + operation->comm->size + operation->comm->my_index);
      break;
    case WVP_M_SCATTER:
    case WVP_M_STORE:
      entry->peer = WVP_FROM_FLOW | operation->comm->flows;
      break;
    default:
      entry->peer = strand->walk->send_to;
      break;
  }
}

uint32_t wvp_engine_waiting(const struct wvp_engine* engine, uint32_t blocked, struct wvp_waiting* entries,
                            uint32_t capacity) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < WVP_STRANDS; i++) {
    const struct wvp_strand* strand = &engine->strands[i];
    if (!(strand->flags & WVP_SF_LIVE)) continue;
    if (count < capacity) {
      describe(engine, strand, &entries[count]);
      entries[count].blocking = strand->slot == blocked;
    }
    count++;
  }
  return count;
}
