/* SPDX-License-Identifier: Apache-2.0
 * The hot path: how a generator writes a step, and where the data of a share lies. */
#ifndef WAFERVP_COLLECTIVES_STEP_H
#define WAFERVP_COLLECTIVES_STEP_H

#include "collectives/engine.h"

/* Keeps rare work from costing registers in the frequent one. */
#define WVP_OUT_OF_LINE __attribute__((noinline))

/* Tags: communicator id (16 bits), sequence of the operation on it (16), strand (12), step (20).
 * Communicator id 0xffff marks messages between two ranks: then traffic class (2 bits above 32) and
 * number of the message (32). */
#define WVP_TAG_STRAND_SHIFT 20
#define WVP_MAX_STRANDS 4096u
#define WVP_MAX_STEPS (1u << WVP_TAG_STRAND_SHIFT)
#define WVP_POINT_TO_POINT 0xffffu

static inline uint64_t wvp_tag(const struct wvp_operation_state* operation, const struct wvp_strand* strand,
                               uint32_t step) {
  return operation->tag | (uint64_t)strand->index << WVP_TAG_STRAND_SHIFT | step;
}

/* The next descriptor, without parts. The caller has made sure of room. */
static inline struct wvp_descriptor* wvp_descriptor(struct wvp_engine* engine,
                                                    const struct wvp_strand* strand) {
  struct wvp_descriptor* d = &engine->hal->descriptors[engine->dq_tail & (engine->dq_size - 1)];
  d->flags = 0;
  d->cookie = (uint32_t)(strand - engine->strands);
  return d;
}

static inline void wvp_post(struct wvp_engine* engine) { engine->dq_tail++; }

static inline void wvp_combine(struct wvp_descriptor* d, const struct wvp_operation_state* operation,
                               uint32_t flag, const struct wvp_completion* completion, uint64_t address) {
  d->flags |= flag;
  d->staged = completion->staged;
  d->combine_addr = address;
  d->dtype = operation->dtype;
}

static inline void wvp_send(struct wvp_descriptor* d, const struct wvp_operation_state* operation,
                            uint32_t to, uint64_t tag, uint64_t address, uint64_t bytes) {
  d->flags |= WVP_D_SEND;
  d->send_to = to;
  d->send_tag = tag;
  d->send_addr = address;
  d->send_bytes = bytes;
  d->traffic_class = operation->traffic_class;
}

static inline void wvp_send_flow(struct wvp_descriptor* d, const struct wvp_operation_state* operation,
                                 uint32_t flow, uint64_t tag, uint64_t address, uint64_t bytes) {
  wvp_send(d, operation, flow, tag, address, bytes);
  d->flags |= WVP_D_SEND_FLOW;
  d->dtype = operation->dtype;
}

static inline void wvp_notify_sent(struct wvp_descriptor* d, struct wvp_strand* strand) {
  d->flags |= WVP_D_NOTIFY_SENT;
  strand->pending++;
}

/* The strand ends with this descriptor, once its COMBINE part is done. */
static inline void wvp_combine_last(struct wvp_descriptor* d, struct wvp_strand* strand) {
  d->flags |= WVP_D_NOTIFY_COMBINED;
  strand->pending++;
  strand->flags |= WVP_SF_LAST;
}

static inline void wvp_expect(struct wvp_descriptor* d, struct wvp_strand* strand, uint64_t tag,
                              uint64_t bytes) {
  d->flags |= WVP_D_EXPECT;
  d->expect_from = strand->from;
  d->expect_tag = tag;
  d->expect_bytes = bytes;
  strand->flags |= WVP_SF_EXPECTING;
}

static inline uint64_t wvp_share_address(const struct wvp_operation_state* operation,
                                         const struct wvp_strand* strand, uint32_t share) {
  const uint32_t longer = share < strand->longer;
  const uint32_t before =
      (longer ? share : strand->longer) + (longer && (strand->flags & WVP_SF_MORE_AT) ? 1u : 0u);
  return strand->address + share * strand->stride + (uint64_t)before * operation->unit;
}

static inline uint64_t wvp_share_bytes(const struct wvp_operation_state* operation,
                                       const struct wvp_strand* strand, uint32_t share) {
  return strand->bytes + (share < strand->longer && (strand->flags & WVP_SF_MORE_IN) ? operation->unit : 0u);
}

/* The strand's chunk of a vector at `address`, cut into `count` shares. */
static inline void wvp_cut_range(struct wvp_strand* strand, uint32_t unit, uint64_t address,
                                 uint64_t elements, uint32_t count) {
  const uint64_t base = elements / count;
  strand->address = address;
  strand->stride = strand->bytes = base * unit;
  strand->longer = (uint32_t)(elements - base * count);
  strand->flags = (uint8_t)((strand->flags & ~WVP_SF_MORE_AT) | WVP_SF_MORE_IN);
}

/* The strand's chunk of each of the `count` shares that a vector is cut into. */
static inline void wvp_cut_shares(const struct wvp_operation_state* operation, struct wvp_strand* strand,
                                  uint32_t count) {
  const uint32_t unit = operation->unit;
  const uint64_t elements = operation->command->bytes / unit;
  const uint64_t base = elements / count;
  uint64_t begin, size, longer_begin, longer_size;
  wvp_chunk_range(operation, strand->index, base, &begin, &size);
  wvp_chunk_range(operation, strand->index, base + 1, &longer_begin, &longer_size);
  strand->address = operation->command->dst + begin * unit;
  strand->stride = base * unit;
  strand->bytes = size * unit;
  strand->longer = (uint32_t)(elements - base * count);
  strand->flags &= (uint8_t) ~(WVP_SF_MORE_AT | WVP_SF_MORE_IN);
  if (longer_begin > begin) strand->flags |= WVP_SF_MORE_AT;
  if (longer_size > size) strand->flags |= WVP_SF_MORE_IN;
}

#endif
