/* SPDX-License-Identifier: Apache-2.0
 * Which algorithm, how many chunks: decided from what all members know alike. README.md states the model. */
#include "collectives/step.h"

/* An infinite cost that a few terms can be added to. */
#define WVP_NEVER (UINT64_MAX / 4)
#define WVP_AUTO_MESSAGE 16384u /* bytes that automatic chunking leaves in the smallest message */
#define WVP_AUTO_CHUNKS 32u     /* strands of a hierarchical collective */
#define WVP_AUTO_RELAY 64u
#define WVP_AUTO_TREES 512u /* strands of a collective on trees */
#define WVP_AUTO_TREE 128u  /* and of one tree */
#define WVP_PACKET 4096u

static uint64_t at_most(uint64_t value, uint64_t limit) { return value < limit ? value : limit; }
static uint64_t at_least(uint64_t value, uint64_t limit) { return value > limit ? value : limit; }

/* Picoseconds of `bytes` at `rate` bytes per microsecond. */
static uint64_t transfer(uint64_t bytes, uint64_t rate) {
  if (rate == 0) return WVP_NEVER;
  const uint64_t whole = bytes / rate;
  if (whole > WVP_NEVER / 1000000u) return WVP_NEVER;
  return whole * 1000000u + (bytes - whole * rate) * 1000000u / rate;
}

/* The firmware is to choose. */
static int chooses(const struct wvp_command* command) {
  return command->algorithm == WVP_ALG_AUTO || command->algorithm == WVP_ALG_BEST;
}

static int has_grid(const struct wvp_comm* comm) {
  return comm->dim_x && comm->dim_y && (uint64_t)comm->dim_x * comm->dim_y == comm->size &&
         comm->dim_x < 65536u && comm->dim_y < 65536u && comm->x_first_share <= 65536u;
}

static uint64_t x_part(const struct wvp_operation_state* operation, uint64_t elements) {
  return (elements * operation->x_share + 32768u) >> 16;
}

void wvp_chunk_range(const struct wvp_operation_state* operation, uint32_t strand, uint64_t elements,
                     uint64_t* begin, uint64_t* count) {
  uint64_t first = 0, part = elements;
  uint32_t chunk = strand;
  if (operation->orders == 2) {
    const uint64_t x = x_part(operation, elements);
    first = strand & 1u ? x : 0;
    part = strand & 1u ? elements - x : x;
    chunk = strand >> 1;
  }
  const uint64_t base = operation->chunks == 1 ? part : part / operation->chunks;
  const uint64_t longer = part - base * operation->chunks;
  *begin = first + chunk * base + at_most(chunk, longer);
  *count = base + (chunk < longer);
}

/* Orders of a hierarchical collective and the most chunks of each that leave none empty. */
static uint64_t set_orders(struct wvp_operation_state* operation) {
  const struct wvp_comm* comm = operation->comm;
  const uint64_t elements = operation->command->bytes / operation->unit;
  const uint64_t x = (elements * comm->x_first_share + 32768u) >> 16;
  operation->x_share = comm->x_first_share;
  operation->orders = 1;
  if (x == elements || comm->dim_x == 1 || comm->dim_y == 1) {
    operation->x_share = 65536;
  } else if (x == 0) {
    operation->x_share = 0;
  } else {
    operation->orders = 2;
  }
  const uint64_t cut = operation->command->op == WVP_OP_ALL_REDUCE ? elements : elements / comm->size;
  if (operation->orders == 1) return cut;
  return at_most(x_part(operation, cut), cut - x_part(operation, cut));
}

static uint64_t hierarchical_chunks(const struct wvp_operation_state* operation) {
  if (operation->command->chunks) return operation->command->chunks;
  const uint64_t smallest = (uint64_t)operation->comm->size * operation->orders * WVP_AUTO_MESSAGE;
  return at_least(at_most(operation->command->bytes / smallest, WVP_AUTO_CHUNKS / operation->orders), 1);
}

/* Chunks of each tree. */
static uint64_t tree_chunks(const struct wvp_operation_state* operation) {
  const struct wvp_command* command = operation->command;
  const uint64_t trees = operation->comm->trees;
  if (command->chunks) return command->chunks;
  const uint64_t most = at_most(WVP_AUTO_TREES / trees, WVP_AUTO_TREE);
  return at_least(at_most(command->bytes / (trees * WVP_AUTO_MESSAGE), most), 1);
}

static uint64_t relay_chunks(const struct wvp_command* command) {
  return command->chunks ? command->chunks
                         : at_least(at_most(command->bytes / WVP_PACKET, WVP_AUTO_RELAY), 1);
}

static uint64_t hierarchical_cost(struct wvp_operation_state* operation, uint32_t rounds) {
  const struct wvp_comm* comm = operation->comm;
  if (!has_grid(comm)) return WVP_NEVER;
  set_orders(operation);
  const uint64_t bytes = operation->command->bytes, x = x_part(operation, bytes), y = bytes - x;
  const uint64_t rows = comm->dim_y, columns = comm->dim_x, n = comm->size;
  /* What each member sends: a chunk whole in its first dimension, its share of that in the second. */
  const uint64_t sent_x = rounds * (x * (columns - 1) / columns + y * (columns - 1) / n);
  const uint64_t sent_y = rounds * (y * (rows - 1) / rows + x * (rows - 1) / n);
  const uint64_t time_x = columns > 1 ? transfer(sent_x, comm->x_rate) : 0;
  const uint64_t time_y = rows > 1 ? transfer(sent_y, comm->y_rate) : 0;
  const uint64_t fill = at_most(time_x, time_y) / hierarchical_chunks(operation);
  return at_least(time_x, time_y) + fill + rounds * (columns + rows - 2) * comm->hop_latency_ps;
}

/* On trees the data goes up and down at the same time; a chunk takes twice the depth in steps. */
static uint64_t tree_cost(const struct wvp_operation_state* operation) {
  const struct wvp_comm* comm = operation->comm;
  if (!comm->trees || !comm->tree_rate || operation->command->op != WVP_OP_ALL_REDUCE) return WVP_NEVER;
  const uint64_t time = transfer(operation->command->bytes, comm->tree_rate);
  const uint64_t steps = 2 * (uint64_t)comm->tree_depth - 1;
  return time + steps * (time / tree_chunks(operation) + comm->hop_latency_ps);
}

/* `auto` does not know the two algorithms that the FRED paper's baseline does not have. */
static uint8_t best(struct wvp_operation_state* operation, uint8_t usual, uint64_t usual_cost,
                    uint32_t rounds) {
  const struct wvp_comm* comm = operation->comm;
  const uint64_t n = comm->size;
  const uint64_t share = operation->command->bytes / n;
  const uint64_t both = comm->both_rate
                            ? rounds * (n - 1) * (transfer(share, comm->both_rate) + comm->hop_latency_ps)
                            : WVP_NEVER;
  const uint64_t tree = tree_cost(operation);
  if (usual_cost <= both && usual_cost <= tree) return usual;
  return tree < both ? WVP_ALG_TREE : WVP_ALG_RING_BOTH;
}

static uint8_t cheapest(struct wvp_operation_state* operation) {
  const struct wvp_comm* comm = operation->comm;
  const struct wvp_command* command = operation->command;
  const uint64_t n = comm->size, bytes = command->bytes, hop = comm->hop_latency_ps;
  uint64_t in_switch = comm->flows ? transfer(bytes, comm->flow_rate) + hop : UINT64_MAX;
  uint64_t ring, hierarchical, direct, relay;
  switch (command->op) {
    case WVP_OP_ALL_REDUCE:
    case WVP_OP_REDUCE_SCATTER:
    case WVP_OP_ALL_GATHER: {
      const uint32_t rounds = command->op == WVP_OP_ALL_REDUCE ? 2 : 1;
      if (command->op == WVP_OP_ALL_GATHER && comm->flows) in_switch += (n - 1) * hop;
      ring = rounds * (n - 1) * (transfer(bytes / n, comm->ring_rate) + hop);
      hierarchical = hierarchical_cost(operation, rounds);
      uint8_t usual = hierarchical < ring ? WVP_ALG_HIERARCHICAL : WVP_ALG_RING;
      if (in_switch <= ring && in_switch <= hierarchical) usual = WVP_ALG_IN_SWITCH;
      if (command->algorithm != WVP_ALG_BEST) return usual;
      return best(operation, usual, at_most(in_switch, at_most(ring, hierarchical)), rounds);
    }
    case WVP_OP_BROADCAST: {
      const uint64_t chunks = relay_chunks(command);
      direct = (n - 1) * transfer(bytes, comm->ring_rate) + hop;
      relay = (n - 2 + chunks) * transfer(bytes / chunks, comm->ring_rate) + (n - 1) * hop;
      if (in_switch <= direct && in_switch <= relay) return WVP_ALG_IN_SWITCH;
      return n > 2 && relay < direct ? WVP_ALG_RELAY : WVP_ALG_DIRECT;
    }
    case WVP_OP_LOAD:
    case WVP_OP_STORE:
      return WVP_ALG_IN_SWITCH;
    case WVP_OP_BARRIER:
      return comm->flows ? WVP_ALG_IN_SWITCH : WVP_ALG_DIRECT;
    default:
      return WVP_ALG_DIRECT;
  }
}

/* Sets machine, chunks and strands for `algorithm`. */
static uint32_t set_schedule(struct wvp_operation_state* operation, uint8_t algorithm) {
  const struct wvp_comm* comm = operation->comm;
  const struct wvp_command* command = operation->command;
  const uint32_t op = command->op;
  const int reduces = op == WVP_OP_ALL_REDUCE || op == WVP_OP_REDUCE_SCATTER || op == WVP_OP_ALL_GATHER;
  const uint64_t elements = command->bytes / operation->unit;
  uint64_t chunks = command->chunks ? command->chunks : 1, most = elements, strands;
  if (op != WVP_OP_ALL_REDUCE && op != WVP_OP_BROADCAST) most = elements / comm->size;
  operation->orders = 1;
  if (op == WVP_OP_LOAD || op == WVP_OP_STORE) {
    if (algorithm != WVP_ALG_IN_SWITCH || !comm->flows || !comm->io_controllers) return WVP_EXIT_UNSUPPORTED;
    operation->machine = op == WVP_OP_LOAD ? WVP_M_LOAD : WVP_M_STORE;
    operation->strands = 1;
    return WVP_EXIT_OK;
  }
  switch (algorithm) {
    case WVP_ALG_RING:
      if (!reduces || 2 * (uint64_t)comm->size > WVP_MAX_STEPS) return WVP_EXIT_UNSUPPORTED;
      operation->machine = WVP_M_RING;
      break;
    case WVP_ALG_RING_BOTH:
      if (!reduces || 2 * (uint64_t)comm->size > WVP_MAX_STEPS) return WVP_EXIT_UNSUPPORTED;
      operation->machine = WVP_M_RING;
      operation->x_share = 32768;
      operation->orders = elements > 1 ? 2 : 1;
      if (operation->orders == 2) most = at_most(x_part(operation, most), most - x_part(operation, most));
      break;
    case WVP_ALG_TREE:
      if (op != WVP_OP_ALL_REDUCE || !comm->trees) return WVP_EXIT_UNSUPPORTED;
      operation->machine = WVP_M_TREE;
      chunks = at_least(at_most(comm->trees * tree_chunks(operation), most), 1);
      if (chunks > WVP_MAX_STRANDS) return WVP_EXIT_UNSUPPORTED;
      break;
    case WVP_ALG_HIERARCHICAL:
      if (!reduces || !has_grid(comm) || 2 * (uint64_t)comm->size > WVP_MAX_STEPS)
        return WVP_EXIT_UNSUPPORTED;
      operation->machine = WVP_M_RING;
      operation->hierarchical = 1;
      most = set_orders(operation);
      chunks = hierarchical_chunks(operation);
      break;
    case WVP_ALG_IN_SWITCH:
      if (!comm->flows || op == WVP_OP_ALL_TO_ALL || comm->size > WVP_MAX_STEPS) return WVP_EXIT_UNSUPPORTED;
      operation->machine = op == WVP_OP_REDUCE_SCATTER ? WVP_M_SCATTER
                           : op == WVP_OP_ALL_GATHER   ? WVP_M_GATHER
                           : op == WVP_OP_BROADCAST    ? WVP_M_CAST
                                                       : WVP_M_SUM;
      if (op == WVP_OP_BARRIER) chunks = 1;
      break;
    case WVP_ALG_RELAY:
      if (op != WVP_OP_BROADCAST) return WVP_EXIT_UNSUPPORTED;
      operation->machine = WVP_M_RELAY;
      chunks = at_most(relay_chunks(command), elements);
      if (chunks > WVP_MAX_STEPS) return WVP_EXIT_UNSUPPORTED;
      operation->chunks = (uint32_t)chunks;
      operation->strands = 1;
      return WVP_EXIT_OK;
    default:
      if (reduces || comm->size > 65536u) return WVP_EXIT_UNSUPPORTED;
      operation->machine = op == WVP_OP_BARRIER     ? WVP_M_BARRIER
                           : op == WVP_OP_BROADCAST ? WVP_M_STAR
                                                    : WVP_M_EXCHANGE;
      operation->strands = op == WVP_OP_BARRIER ? 1 : comm->size;
      if (op == WVP_OP_BROADCAST) operation->strands = comm->my_index == command->root ? comm->size - 1 : 1;
      return WVP_EXIT_OK;
  }
  chunks = at_least(at_most(chunks, most), 1);
  strands = chunks * operation->orders;
  if (strands > WVP_MAX_STRANDS) return WVP_EXIT_UNSUPPORTED;
  operation->chunks = (uint32_t)chunks;
  operation->strands = (uint32_t)strands;
  return WVP_EXIT_OK;
}

uint32_t wvp_choose(struct wvp_operation_state* operation) {
  const struct wvp_command* command = operation->command;
  const struct wvp_comm* comm = operation->comm;
  const uint32_t size = wvp_dtype_bytes(command->dtype);
  operation->unit = (uint8_t)(command->bytes % size ? 1 : size);
  operation->chunks = 1;
  operation->orders = 1;
  operation->x_share = 65536;
  operation->hierarchical = 0;
  operation->limit = command->active_chunks ? command->active_chunks : UINT32_MAX;
  if (!comm) {
    if (command->algorithm != WVP_ALG_AUTO && command->algorithm != WVP_ALG_DIRECT)
      return WVP_EXIT_UNSUPPORTED;
    operation->machine = command->op == WVP_OP_SEND ? WVP_M_SEND : WVP_M_RECEIVE;
    operation->strands = 1;
    return WVP_EXIT_OK;
  }
  if (command->algorithm > WVP_ALG_BEST) return WVP_EXIT_BAD_COMMAND;
  if (comm->size == 1) { /* only all_to_all has something to do: its own share */
    operation->machine = WVP_M_EXCHANGE;
    operation->strands = command->op == WVP_OP_ALL_TO_ALL && command->bytes ? 1 : 0;
    return WVP_EXIT_OK;
  }
  const uint32_t status =
      set_schedule(operation, chooses(command) ? cheapest(operation) : command->algorithm);
  if (status != WVP_EXIT_OK) return status;
  if (command->bytes == 0 && command->op != WVP_OP_BARRIER) operation->strands = 0;
  return WVP_EXIT_OK;
}

uint32_t wvp_algorithm_of(const struct wvp_command* command, const struct wvp_comm* comm) {
  if (!chooses(command)) return command->algorithm;
  if (!comm || comm->size == 1) return WVP_ALG_DIRECT;
  struct wvp_operation_state operation = {0};
  const uint32_t size = wvp_dtype_bytes(command->dtype);
  operation.command = command;
  operation.comm = comm;
  operation.unit = (uint8_t)(command->bytes % size ? 1 : size);
  return cheapest(&operation);
}
