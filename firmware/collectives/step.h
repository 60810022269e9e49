/* SPDX-License-Identifier: Apache-2.0
 * How a generator writes a step, and how data is cut into shares. */
#ifndef WAFERVP_COLLECTIVES_STEP_H
#define WAFERVP_COLLECTIVES_STEP_H

#include "collectives/engine.h"

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
  d->flags |= operation->send_flags;
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

/* And the strand sends nothing more. */
static inline void wvp_notify_last(struct wvp_descriptor* d, struct wvp_strand* strand) {
  d->flags |= WVP_D_LAST;
  wvp_notify_sent(d, strand);
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
  d->expect_from = strand->walk->from;
  d->expect_tag = strand->walk->tag = tag;
  d->expect_bytes = bytes;
  strand->flags |= WVP_SF_EXPECTING;
}

/* Says what the shares are made of. */
static inline void wvp_set_unit(const struct wvp_operation_state* operation, struct wvp_walk* walk) {
  walk->dtype = operation->dtype;
  walk->flags =
      (uint8_t)((operation->send_flags & WVP_D_TENSOR) >> (WVP_D_TENSOR_SHIFT - WVP_W_TENSOR_SHIFT));
  if (operation->unit != wvp_dtype_bytes(operation->dtype)) walk->flags |= WVP_W_BYTES;
}

/* The strand's chunk of a vector at `address`, cut into `count` shares. */
static inline void wvp_cut_range(const struct wvp_operation_state* operation, struct wvp_walk* walk,
                                 uint64_t address, uint64_t elements, uint32_t count) {
  const uint64_t base = elements / count;
  wvp_set_unit(operation, walk);
  walk->flags |= WVP_W_MORE_IN;
  walk->address = address;
  walk->stride = walk->bytes = base * operation->unit;
  walk->longer = (uint32_t)(elements - base * count);
}

/* The strand's chunk of each of the `count` shares that a vector is cut into. */
static inline void wvp_cut_shares(const struct wvp_operation_state* operation, struct wvp_strand* strand,
                                  uint32_t count) {
  struct wvp_walk* walk = strand->walk;
  const uint32_t unit = operation->unit;
  const uint64_t elements = operation->command->bytes / unit;
  const uint64_t base = elements / count;
  uint64_t begin, size, longer_begin, longer_size;
  wvp_chunk_range(operation, strand->index, base, &begin, &size);
  wvp_chunk_range(operation, strand->index, base + 1, &longer_begin, &longer_size);
  wvp_set_unit(operation, walk);
  if (longer_begin > begin) walk->flags |= WVP_W_MORE_AT;
  if (longer_size > size) walk->flags |= WVP_W_MORE_IN;
  walk->address = operation->command->dst + begin * unit;
  walk->stride = base * unit;
  walk->bytes = size * unit;
  walk->longer = (uint32_t)(elements - base * count);
}

/* In-network flows of a group, as wvp_comm.flows numbers them. */
static inline uint32_t wvp_reduce_to(const struct wvp_comm* comm, uint32_t member) {
  return comm->flows + 1 + member;
}
static inline uint32_t wvp_cast_from(const struct wvp_comm* comm, uint32_t member) {
  return comm->flows + 1 + comm->size + member;
}

/* Share `share` of the strand comes out of the flow, or goes into it. */
static inline void wvp_expect_share(const struct wvp_operation_state* operation, struct wvp_strand* strand,
                                    struct wvp_descriptor* d, uint32_t flow, uint32_t share) {
  strand->walk->from = WVP_FROM_FLOW | flow;
  wvp_expect(d, strand, wvp_tag(operation, strand, share), wvp_share_bytes(strand->walk, share));
}

static inline void wvp_send_share(const struct wvp_operation_state* operation, struct wvp_strand* strand,
                                  struct wvp_descriptor* d, uint32_t flow, uint32_t share) {
  wvp_send_flow(d, operation, flow, wvp_tag(operation, strand, share), wvp_share_address(strand->walk, share),
                wvp_share_bytes(strand->walk, share));
}

#endif
