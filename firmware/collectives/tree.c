/* SPDX-License-Identifier: Apache-2.0
 * all_reduce on spanning trees of the group. A strand is a chunk of one tree: a member adds what its children
 * send, in their order, sends the sum to its parent, and passes on to its children the result that comes
 * back. Chunks follow each other, so that the links work up and down at the same time. */
#include "collectives/step.h"

/* Steps of a tag: a message goes up or down. */
#define UP 0u
#define DOWN 1u

/* What the member knows of the strand's tree: parent, number of children, children. */
static const uint32_t* links_of(const struct wvp_operation_state* operation,
                                const struct wvp_strand* strand) {
  const struct wvp_comm* comm = operation->comm;
  return comm->tree_links + comm->tree_links[strand->index % comm->trees];
}

static int is_root(const struct wvp_operation_state* operation, const uint32_t* links) {
  return links[0] == operation->comm->my_index;
}

static void send(const struct wvp_operation_state* operation, const struct wvp_strand* strand,
                 struct wvp_descriptor* d, uint32_t to, uint32_t way) {
  wvp_send(d, operation, operation->comm->members[to], wvp_tag(operation, strand, way), strand->walk->address,
           wvp_share_bytes(strand->walk, 0));
  /* The older operation, then the older chunk. */
  d->flags |= WVP_D_WINDOW;
  d->priority = (operation->age & 0x7fffu) << 16 | strand->index;
}

static void expect(const struct wvp_operation_state* operation, struct wvp_strand* strand,
                   struct wvp_descriptor* d, uint32_t from, uint32_t way) {
  strand->walk->from = operation->comm->members[from];
  strand->kind = (uint8_t)way;
  wvp_expect(d, strand, wvp_tag(operation, strand, way), wvp_share_bytes(strand->walk, 0));
}

/* The next thing before the result: the next child's sum, or the own one to the parent. */
static void go_up(const struct wvp_operation_state* operation, struct wvp_strand* strand,
                  struct wvp_descriptor* d, const uint32_t* links) {
  if (strand->piece < strand->pieces) {
    expect(operation, strand, d, links[2 + strand->piece], UP);
    return;
  }
  strand->piece = 0;
  if (is_root(operation, links)) {
    /* The result may leave when the last addition is done, and not before: see wvp_tree_open. */
    d->flags |= WVP_D_NOTIFY_COMBINED;
    strand->pending++;
    strand->flags |= WVP_SF_OPENING;
    return;
  }
  strand->walk->send_to = operation->comm->members[links[0]];
  send(operation, strand, d, links[0], UP);
  if (strand->pieces == 0) d->flags |= WVP_D_LAST;
  expect(operation, strand, d, links[0], DOWN);
}

/* Sends the result to the children that have not got it. */
void wvp_tree_open(struct wvp_engine* engine, struct wvp_strand* strand) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  const uint32_t* links = links_of(operation, strand);
  if (strand->piece == 0 && strand->pending) return; /* the root's sum is not done */
  while (strand->piece < strand->pieces) {
    if (!wvp_engine_room(engine, 1)) {
      strand->flags |= WVP_SF_OPENING;
      engine->stalled = 1;
      return;
    }
    struct wvp_descriptor* d = wvp_descriptor(engine, strand);
    const uint32_t child = links[2 + strand->piece++];
    strand->walk->send_to = operation->comm->members[child];
    send(operation, strand, d, child, DOWN);
    if (strand->piece == strand->pieces) {
      wvp_notify_last(d, strand);
    } else {
      wvp_notify_sent(d, strand);
    }
    wvp_post(engine);
  }
  strand->flags = (uint8_t)((strand->flags & ~WVP_SF_OPENING) | WVP_SF_LAST);
}

void wvp_tree_start(struct wvp_engine* engine, struct wvp_strand* strand) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  const struct wvp_command* command = operation->command;
  const uint32_t* links = links_of(operation, strand);
  uint64_t begin, count;
  wvp_chunk_range(operation, strand->index, command->bytes / operation->unit, &begin, &count);
  wvp_cut_range(operation, strand->walk, command->dst + begin * operation->unit, count, 1);
  strand->walk->share = 0;
  strand->piece = 0;
  strand->pieces = (uint16_t)links[1];
  struct wvp_descriptor* d = wvp_descriptor(engine, strand);
  go_up(operation, strand, d, links);
  wvp_post(engine);
}

void wvp_tree_received(struct wvp_engine* engine, struct wvp_strand* strand,
                       const struct wvp_completion* completion) {
  const struct wvp_operation_state* operation = &engine->operations[strand->slot];
  const uint32_t* links = links_of(operation, strand);
  struct wvp_descriptor* d = wvp_descriptor(engine, strand);
  if (strand->kind == UP) {
    wvp_combine(d, operation, WVP_D_COMBINE_REDUCE, completion, strand->walk->address);
    strand->piece++;
    go_up(operation, strand, d, links);
    wvp_post(engine);
    return;
  }
  wvp_combine(d, operation, WVP_D_COMBINE_COPY, completion, strand->walk->address);
  if (strand->pieces == 0) {
    wvp_combine_last(d, strand);
    wvp_post(engine);
    return;
  }
  strand->walk->send_to = operation->comm->members[links[2]];
  send(operation, strand, d, links[2], DOWN);
  if (strand->pieces == 1) {
    wvp_notify_last(d, strand);
  } else {
    wvp_notify_sent(d, strand);
  }
  wvp_post(engine);
  strand->piece = 1;
  wvp_tree_open(engine, strand);
}
