/* SPDX-License-Identifier: Apache-2.0
 * Operations and strands: start and end. */
#include "collectives/engine.h"

#include "collectives/step.h"

void wvp_engine_init(struct wvp_engine* engine, const struct wvp_hal* hal) {
  engine->hal = hal;
  engine->dq_size = hal->read32(hal->bus, WVP_REG_DQ_SIZE);
  engine->cq_size = hal->read32(hal->bus, WVP_REG_CQ_SIZE);
  engine->free_shared = ~(uint64_t)0;
  if (hal->read32(hal->bus, WVP_REG_WALKS) < WVP_STRANDS) {
    wvp_engine_fail(engine, WVP_EXIT_UNSUPPORTED, 0xffffffffu, 0xffffffffu, 0, 0);
  }
}

void wvp_engine_phase(struct wvp_engine* engine, uint32_t kind, uint32_t index) {
  engine->hal->write32(engine->hal->bus, WVP_REG_PHASE, kind << 24 | (index & 0xffffffu));
}

void wvp_engine_fail(struct wvp_engine* engine, uint32_t status, uint32_t index, uint32_t peer,
                     uint64_t expected, uint64_t found) {
  const struct wvp_hal* hal = engine->hal;
  hal->write32(hal->bus, WVP_REG_ERROR_OP, index);
  hal->write32(hal->bus, WVP_REG_ERROR_PEER, peer);
  hal->write32(hal->bus, WVP_REG_ERROR_EXPECTED_LO, (uint32_t)expected);
  hal->write32(hal->bus, WVP_REG_ERROR_EXPECTED_HI, (uint32_t)(expected >> 32));
  hal->write32(hal->bus, WVP_REG_ERROR_FOUND_LO, (uint32_t)found);
  hal->write32(hal->bus, WVP_REG_ERROR_FOUND_HI, (uint32_t)(found >> 32));
  hal->write32(hal->bus, WVP_REG_EXIT, status);
  engine->stopped = 1;
}

uint32_t wvp_engine_find_room(struct wvp_engine* engine, uint32_t wanted) {
  wvp_engine_ring(engine);
  engine->dq_head = engine->hal->read32(engine->hal->bus, WVP_REG_DQ_HEAD);
  const uint32_t used = engine->dq_tail - engine->dq_head + engine->reserve;
  const uint32_t room = used < engine->dq_size ? engine->dq_size - used : 0;
  return room < wanted ? room : wanted;
}

static struct wvp_strand* take_strand(struct wvp_engine* engine, uint32_t slot) {
  uint32_t number = slot;
  if (engine->strands[slot].flags & WVP_SF_LIVE) {
    if (!engine->free_shared) return 0;
    const uint32_t bit = (uint32_t)__builtin_ctzll(engine->free_shared);
    engine->free_shared &= engine->free_shared - 1;
    number = WVP_SLOTS + bit;
  }
  struct wvp_strand* strand = &engine->strands[number];
  const struct wvp_operation_state* operation = &engine->operations[slot];
  strand->flags = WVP_SF_LIVE;
  strand->slot = (uint8_t)slot;
  strand->index = (uint16_t)operation->next;
  strand->phase = 0;
  strand->pending = 0;
  strand->step = 0;
  strand->left = 0;
  strand->walk = &engine->hal->walks[number];
  return strand;
}

static void start_strand(struct wvp_engine* engine, struct wvp_strand* strand) {
  switch (engine->operations[strand->slot].machine) {
    case WVP_M_RING:
      wvp_ring_start(engine, strand);
      break;
    case WVP_M_TREE:
      wvp_tree_start(engine, strand);
      break;
    case WVP_M_SUM:
    case WVP_M_SCATTER:
    case WVP_M_GATHER:
    case WVP_M_CAST:
      wvp_in_switch_start(engine, strand);
      break;
    case WVP_M_LOAD:
    case WVP_M_STORE:
      wvp_memory_start(engine, strand);
      break;
    case WVP_M_RELAY:
      wvp_relay_start(engine, strand);
      break;
    default:
      wvp_direct_start(engine, strand);
      break;
  }
}

static void end_operation(struct wvp_engine* engine, struct wvp_operation_state* operation) {
  operation->running = 0;
  engine->ended = 1;
  wvp_engine_phase(engine, WVP_PHASE_OP_END | (uint32_t)operation->traffic_class << 4, operation->index);
}

/* Frees strands that have nothing to wait for; the operation ends with its last one. */
static int end_strand(struct wvp_engine* engine, struct wvp_strand* strand) {
  if (!(strand->flags & WVP_SF_LAST) || strand->pending) return 0;
  const uint32_t number = (uint32_t)(strand - engine->strands);
  strand->flags = 0;
  if (number >= WVP_SLOTS) engine->free_shared |= (uint64_t)1 << (number - WVP_SLOTS);
  engine->operations[strand->slot].live--;
  return 1;
}

static int sums_in_switch(uint32_t machine) {
  return machine == WVP_M_SUM || machine == WVP_M_SCATTER || machine == WVP_M_STORE;
}

/* What all members send into one flow has to come in one order. So an operation goes into its flows only
 * when the operations before it on the same ones have sent all they have. */
static int has_turn(const struct wvp_engine* engine, const struct wvp_operation_state* operation) {
  if (!sums_in_switch(operation->machine)) return 1;
  if (operation->opening) return 0;
  for (uint32_t slot = 0; slot < WVP_SLOTS; slot++) {
    const struct wvp_operation_state* other = &engine->operations[slot];
    if (!other->running || other == operation) continue;
    if (!sums_in_switch(other->machine)) continue;
    if (other->comm->flows != operation->comm->flows) continue;
    const int older = (uint16_t)(operation->age - other->age) < 0x8000u;
    if (older && (other->opening || other->next < other->strands)) return 0;
  }
  return 1;
}

static void start_strands(struct wvp_engine* engine, uint32_t slot) {
  struct wvp_operation_state* operation = &engine->operations[slot];
  while (operation->next < operation->strands && operation->live < operation->limit) {
    if (!has_turn(engine, operation)) {
      engine->hungry |= 1u << slot;
      return;
    }
    if (!wvp_engine_room(engine, 1)) {
      engine->stalled = 1;
      return;
    }
    struct wvp_strand* strand = take_strand(engine, slot);
    if (!strand) {
      engine->hungry |= 1u << slot;
      return;
    }
    operation->next++;
    operation->live++;
    engine->hal->charge_step(engine->hal->bus);
    start_strand(engine, strand);
    wvp_engine_ring(engine);
    end_strand(engine, strand);
  }
  if (operation->running && !operation->live && operation->next == operation->strands) {
    end_operation(engine, operation);
  }
}

/* Starts strands of operations that found none free, or had to wait for their turn. */
static void feed(struct wvp_engine* engine) {
  const uint32_t hungry = engine->hungry;
  engine->hungry = 0;
  for (uint32_t slot = 0; slot < WVP_SLOTS; slot++) {
    if (hungry >> slot & 1u && engine->operations[slot].running) start_strands(engine, slot);
  }
}

/* Malformed: what no scenario may bring about, whatever the algorithm. */
static int well_formed(const struct wvp_command* command, const struct wvp_comm* comms, uint32_t comm_count) {
  if (command->op < WVP_OP_ALL_REDUCE || command->op > WVP_OP_STORE) return 0;
  if (command->dtype > WVP_FP64 || command->traffic_class > WVP_CLASS_CONTROL) return 0;
  if (command->op == WVP_OP_SEND || command->op == WVP_OP_RECEIVE) return 1;
  if (command->comm >= comm_count) return 0;
  const struct wvp_comm* comm = &comms[command->comm];
  if (comm->size == 0 || comm->my_index >= comm->size || comm->id == WVP_POINT_TO_POINT) return 0;
  if (comm->tensor > WVP_TENSOR_STREAM) return 0;
  return command->op != WVP_OP_BROADCAST || command->root < comm->size;
}

int wvp_engine_enter(struct wvp_engine* engine, const struct wvp_command* command, uint32_t index,
                     const struct wvp_comm* comms, uint32_t comm_count) {
  struct wvp_operation_state* operation = &engine->operations[command->slot % WVP_SLOTS];
  if (command->slot >= WVP_SLOTS || operation->running || !well_formed(command, comms, comm_count)) {
    wvp_engine_fail(engine, WVP_EXIT_BAD_COMMAND, index, 0xffffffffu, 0, 0);
    return 0;
  }
  operation->command = command;
  operation->dtype = command->dtype;
  operation->traffic_class = command->traffic_class;
  operation->index = index;
  operation->strands = operation->next = operation->live = 0;
  operation->opening = 0;
  if (command->op == WVP_OP_SEND || command->op == WVP_OP_RECEIVE) {
    operation->comm = 0;
    operation->tag =
        (uint64_t)WVP_POINT_TO_POINT << 48 | (uint64_t)command->traffic_class << 32 | command->sequence;
  } else {
    operation->comm = &comms[command->comm];
    operation->tag = (uint64_t)operation->comm->id << 48 | (uint64_t)(command->sequence & 0xffffu) << 32;
  }
  const uint32_t tensor = operation->comm ? operation->comm->tensor : WVP_TENSOR_NONE;
  operation->send_flags = (uint16_t)(WVP_D_SEND | tensor << WVP_D_TENSOR_SHIFT);
  const uint32_t status = wvp_choose(operation);
  if (status != WVP_EXIT_OK) {
    wvp_engine_fail(engine, status, index, 0xffffffffu, 0, 0);
    return 0;
  }
  operation->age = (uint16_t)engine->started++;
  operation->running = 1;
  wvp_engine_phase(engine, WVP_PHASE_OP_BEGIN | (uint32_t)command->traffic_class << 4, index);
  start_strands(engine, command->slot);
  return 1;
}

void wvp_engine_settle(struct wvp_engine* engine, struct wvp_strand* strand) {
  const uint32_t slot = strand->slot;
  if (!end_strand(engine, strand)) return;
  start_strands(engine, slot);
  if (engine->hungry) feed(engine);
}

void wvp_engine_resume(struct wvp_engine* engine) {
  engine->stalled = 0;
  for (uint32_t i = 0; i < WVP_STRANDS; i++) {
    struct wvp_strand* strand = &engine->strands[i];
    if (!(strand->flags & WVP_SF_OPENING)) continue;
    switch (engine->operations[strand->slot].machine) {
      case WVP_M_RING:
        wvp_ring_open(engine, strand);
        break;
      case WVP_M_STORE:
        wvp_memory_open(engine, strand);
        break;
      case WVP_M_TREE:
        wvp_tree_open(engine, strand);
        break;
      case WVP_M_RELAY:
        wvp_relay_open(engine, strand);
        break;
      default:
        wvp_in_switch_open(engine, strand);
        break;
    }
    const uint32_t slot = strand->slot;
    if (end_strand(engine, strand)) start_strands(engine, slot);
  }
  engine->hungry = 0;
  for (uint32_t slot = 0; slot < WVP_SLOTS; slot++) {
    if (engine->operations[slot].running) start_strands(engine, slot);
  }
  if (engine->hungry) feed(engine);
  wvp_engine_ring(engine);
}
