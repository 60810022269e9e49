/* SPDX-License-Identifier: Apache-2.0
 * The completion ring: each new entry goes to its strand. */
#include "collectives/step.h"

#define BATCH 64u

static const struct wvp_completion* entry(const struct wvp_engine* engine, uint32_t index) {
  return &engine->hal->completions[index & (engine->cq_size - 1)];
}

static int is_new(const struct wvp_engine* engine, uint32_t index) {
  return entry(engine, index)->phase == !(index & engine->cq_size);
}

static void refuse_size(struct wvp_engine* engine, const struct wvp_strand* strand,
                        const struct wvp_completion* completion) {
  const uint32_t peer = completion->from & WVP_FROM_FLOW ? 0xffffffffu : completion->from;
  wvp_engine_fail(engine, WVP_EXIT_SIZE_MISMATCH, engine->operations[strand->slot].index, peer,
                  wvp_strand_expects(engine, strand), completion->bytes);
}

static void make_step(struct wvp_engine* engine, struct wvp_strand* strand,
                      const struct wvp_completion* completion) {
  switch (engine->operations[strand->slot].machine) {
    case WVP_M_RING:
      wvp_ring_received(engine, strand, completion);
      break;
    case WVP_M_TREE:
      wvp_tree_received(engine, strand, completion);
      break;
    case WVP_M_SUM:
    case WVP_M_SCATTER:
    case WVP_M_GATHER:
    case WVP_M_CAST:
      wvp_in_switch_received(engine, strand, completion);
      break;
    case WVP_M_LOAD:
    case WVP_M_STORE:
      wvp_memory_received(engine, strand, completion);
      break;
    case WVP_M_RELAY:
      wvp_relay_received(engine, strand, completion);
      break;
    default:
      wvp_direct_received(engine, strand, completion);
      break;
  }
}

static void handle(struct wvp_engine* engine, const struct wvp_completion* completion) {
  const uint32_t number = completion->cookie;
  if (number >= WVP_STRANDS || !(engine->strands[number].flags & WVP_SF_LIVE)) {
    if (number & WVP_COMPUTE_COOKIE) {
      engine->computing &= ~(1u << (number & 31u));
      engine->ended = 1;
    } else {
      wvp_engine_fail(engine, WVP_EXIT_RING_OVERRUN, 0xffffffffu, 0xffffffffu, 0, 0);
    }
    return;
  }
  struct wvp_strand* strand = &engine->strands[number];
  if (completion->kind == WVP_C_RECEIVED) {
    if (completion->status != WVP_S_OK) {
      refuse_size(engine, strand, completion);
      return;
    }
    strand->flags &= (uint8_t)~WVP_SF_EXPECTING;
    engine->hal->charge_step(engine->hal->bus);
    make_step(engine, strand, completion);
    wvp_engine_ring(engine);
  } else {
    strand->pending--;
    if (strand->flags & WVP_SF_OPENING && engine->operations[strand->slot].machine == WVP_M_TREE) {
      wvp_tree_open(engine, strand);
      wvp_engine_ring(engine);
    }
  }
  if (strand->flags & WVP_SF_LAST) wvp_engine_settle(engine, strand);
}

/* What came at one time is handled by operation, strand and step, whatever order it was written in. */
static int goes_before(const struct wvp_completion* a, const struct wvp_completion* b) {
  const uint64_t tag_a = a->kind == WVP_C_COMPUTED ? UINT64_MAX : a->tag;
  const uint64_t tag_b = b->kind == WVP_C_COMPUTED ? UINT64_MAX : b->tag;
  return tag_a != tag_b ? tag_a < tag_b : a->cookie < b->cookie;
}

static void handle_sorted(struct wvp_engine* engine, uint32_t count) {
  uint32_t order[BATCH];
  for (uint32_t i = 0; i < count; i++) {
    uint32_t place = i;
    for (; place > 0 && goes_before(entry(engine, engine->cq_head + i), entry(engine, order[place - 1]));
         place--) {
      order[place] = order[place - 1];
    }
    order[place] = engine->cq_head + i;
  }
  for (uint32_t i = 0; i < count && !engine->stopped; i++) {
    engine->reserve = count - 1 - i;
    handle(engine, entry(engine, order[i]));
  }
  engine->reserve = 0;
}

void wvp_engine_take(struct wvp_engine* engine) {
  while (is_new(engine, engine->cq_head)) {
    if (!wvp_engine_room(engine, 1)) {
      engine->stalled = 1;
      return;
    }
    uint32_t count = 1;
    while (count < BATCH && is_new(engine, engine->cq_head + count)) count++;
    if (count > 1) count = wvp_engine_room(engine, count);
    if (count == 1) {
      handle(engine, entry(engine, engine->cq_head));
    } else {
      handle_sorted(engine, count);
    }
    if (engine->stopped) return;
    engine->cq_head += count;
    engine->hal->write32(engine->hal->bus, WVP_REG_CQ_HEAD, engine->cq_head);
  }
}
