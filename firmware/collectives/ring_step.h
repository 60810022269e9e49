/* SPDX-License-Identifier: Apache-2.0
 * The step that nearly all messages of a long ring make, where the engine can make it without a call. */
#ifndef WAFERVP_COLLECTIVES_RING_STEP_H
#define WAFERVP_COLLECTIVES_RING_STEP_H

#include "collectives/step.h"

enum wvp_ring_kind { RING_REDUCE_SCATTER, RING_ALL_GATHER, RING_ALL_REDUCE };

static inline int wvp_ring_reduces(const struct wvp_strand* strand) {
  return strand->kind == RING_REDUCE_SCATTER ||
         (strand->kind == RING_ALL_REDUCE && strand->left >= strand->size);
}

/* Whether the next step is one from the middle of a phase whose segments are one piece each. */
static inline int wvp_ring_passes_on(const struct wvp_operation_state* operation,
                                     const struct wvp_strand* strand) {
  return strand->left > 2 && !operation->hierarchical;
}

/* That step: combine what came, send it on, expect the next. */
static inline void wvp_ring_pass_on(struct wvp_engine* engine, const struct wvp_operation_state* operation,
                                    struct wvp_strand* strand, const struct wvp_completion* completion) {
  struct wvp_descriptor* d = wvp_descriptor(engine, strand);
  const uint32_t share = strand->share, next = (share ? share : strand->size) - 1, number = strand->step + 1;
  const uint64_t address = wvp_share_address(operation, strand, share),
                 tag = wvp_tag(operation, strand, number);
  d->flags =
      WVP_D_SEND | WVP_D_EXPECT | (wvp_ring_reduces(strand) ? WVP_D_COMBINE_REDUCE : WVP_D_COMBINE_COPY);
  d->dtype = operation->dtype;
  d->traffic_class = operation->traffic_class;
  d->staged = completion->staged;
  d->combine_addr = d->send_addr = address;
  d->send_to = strand->send_to;
  d->send_bytes = completion->bytes;
  d->expect_from = strand->from;
  d->send_tag = d->expect_tag = tag;
  d->expect_bytes = wvp_share_bytes(operation, strand, next);
  strand->share = next;
  strand->step = number;
  strand->left--;
  strand->flags |= WVP_SF_EXPECTING;
  wvp_post(engine);
}

#endif
