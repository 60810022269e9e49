/* SPDX-License-Identifier: Apache-2.0
 * The event loop of a control processor: runs the rank's program and hands completions to the engine. */
#include "collectives/step.h"
#include "wafervp/hal.h"

/* What the program is blocked on, besides the operation of a slot (0 .. WVP_SLOTS-1). */
enum { BLOCKED_COMPUTE = WVP_SLOTS, BLOCKED_END, NOT_BLOCKED };

struct wvp_context {
  struct wvp_engine engine; /* hot part first */
  const struct wvp_command* program;
  const struct wvp_comm* comms;
  uint32_t comm_count;
  uint32_t next;    /* command to execute next */
  uint32_t blocked; /* slot, or one of the values above */
  uint32_t waited;  /* command of the operation in that slot */
  uint32_t compute_command[WVP_SLOTS + 1];
};

size_t wvp_context_bytes(void) { return sizeof(struct wvp_context) + WVP_CACHE_LINE; }

/* The context proper within the memory that boot hands over, which may lie anywhere. */
static struct wvp_context* aligned(const struct wvp_context* memory) {
  return (struct wvp_context*)(((uintptr_t)memory + WVP_CACHE_LINE - 1) & ~(uintptr_t)(WVP_CACHE_LINE - 1));
}

static int slot_is_busy(const struct wvp_context* context, uint32_t slot) {
  return context->engine.operations[slot].running || (context->engine.computing >> slot & 1u);
}

static uint32_t command_of(const struct wvp_context* context, uint32_t slot) {
  return context->engine.computing >> slot & 1u ? context->compute_command[slot]
                                                : context->engine.operations[slot].index;
}

static int anything_runs(const struct wvp_context* context) {
  if (context->engine.computing) return 1;
  for (uint32_t slot = 0; slot < WVP_SLOTS; slot++) {
    if (context->engine.operations[slot].running) return 1;
  }
  return 0;
}

/* 0: the descriptor ring is full; to be tried again. */
static int start_compute(struct wvp_context* context, const struct wvp_command* command, uint32_t slot) {
  struct wvp_engine* engine = &context->engine;
  if (!wvp_engine_room(engine, 1)) {
    engine->stalled = 1;
    return 0;
  }
  struct wvp_descriptor* d = &engine->hal->descriptors[engine->dq_tail & (engine->dq_size - 1)];
  d->flags = WVP_D_COMPUTE;
  d->cookie = WVP_COMPUTE_COOKIE | slot;
  d->compute_flops = command->compute_flops;
  d->compute_bytes = command->compute_bytes;
  d->compute_ps = command->compute_ps;
  d->kernel = command->root;
  d->send_tag = command->sequence;
  context->engine.computing |= 1u << slot;
  context->compute_command[slot] = context->next;
  wvp_post(engine);
  wvp_engine_ring(engine);
  return 1;
}

/* Executes commands until one has to wait. */
static void run_program(struct wvp_context* context) {
  struct wvp_engine* engine = &context->engine;
  while (context->blocked == NOT_BLOCKED && !engine->stopped) {
    const struct wvp_command* command = &context->program[context->next];
    const uint32_t slot = command->slot;
    const int bad = command->kind > WVP_CMD_COMPUTE_ASYNC ||
                    (command->kind >= WVP_CMD_START && slot >= WVP_SLOTS) ||
                    ((command->kind == WVP_CMD_START || command->kind == WVP_CMD_COMPUTE_ASYNC) &&
                     slot_is_busy(context, slot));
    if (bad) {
      wvp_engine_fail(engine, WVP_EXIT_BAD_COMMAND, context->next, 0xffffffffu, 0, 0);
      return;
    }
    switch (command->kind) {
      case WVP_CMD_END:
        if (anything_runs(context)) {
          context->blocked = BLOCKED_END;
        } else {
          engine->stopped = 1;
          engine->hal->write32(engine->hal->bus, WVP_REG_EXIT, WVP_EXIT_OK);
        }
        return;
      case WVP_CMD_COMPUTE:
        if (!start_compute(context, command, WVP_SLOTS)) return;
        context->blocked = BLOCKED_COMPUTE;
        break;
      case WVP_CMD_COMPUTE_ASYNC:
        if (!start_compute(context, command, slot)) return;
        break;
      case WVP_CMD_START:
        if (!wvp_engine_enter(engine, command, context->next, context->comms, context->comm_count)) return;
        break;
      default: /* WAIT */
        if (slot_is_busy(context, slot)) {
          wvp_engine_phase(engine, WVP_PHASE_WAIT, command_of(context, slot));
          context->blocked = slot;
          context->waited = command_of(context, slot);
        }
        break;
    }
    context->next++;
  }
}

/* Goes on with the program if what it was blocked on is done. */
static void unblock(struct wvp_context* context) {
  if (context->blocked < WVP_SLOTS) {
    if (slot_is_busy(context, context->blocked)) return;
    wvp_engine_phase(&context->engine, WVP_PHASE_RESUME, context->waited);
  } else if (context->blocked == BLOCKED_COMPUTE) {
    if (context->engine.computing >> WVP_SLOTS & 1u) return;
  } else if (context->blocked == BLOCKED_END) {
    if (anything_runs(context)) return;
  }
  context->blocked = NOT_BLOCKED;
  run_program(context);
}

void wvp_boot(struct wvp_context* memory, const struct wvp_hal* hal, const struct wvp_command* program,
              const struct wvp_comm* comms, uint32_t comm_count) {
  struct wvp_context* context = aligned(memory);
  wvp_engine_init(&context->engine, hal);
  context->program = program;
  context->comms = comms;
  context->comm_count = comm_count;
  context->blocked = NOT_BLOCKED;
  run_program(context);
}

void wvp_progress(struct wvp_context* memory) {
  struct wvp_context* context = aligned(memory);
  struct wvp_engine* engine = &context->engine;
  if (engine->stopped) return;
  if (engine->stalled) {
    wvp_engine_resume(engine);
    engine->ended = 1; /* the program may have been stopped too */
  }
  wvp_engine_take(engine);
  if (engine->stopped) return;
  if (engine->ended) {
    engine->ended = 0;
    unblock(context);
  }
}

void wvp_prepare(const struct wvp_context* memory, uint32_t cookie) {
#ifdef __GNUC__
  const struct wvp_engine* engine = &aligned(memory)->engine;
  __builtin_prefetch(&engine->operations[0], 1); /* most programs use the first slot only */
  const uint32_t number = cookie < WVP_STRANDS ? cookie : 0;
  __builtin_prefetch(&engine->strands[number], 1);
  __builtin_prefetch(&engine->hal->walks[number], 1);
#else
  (void)memory, (void)cookie;
#endif
}

uint32_t wvp_waiting(const struct wvp_context* memory, struct wvp_waiting* entries, uint32_t capacity) {
  const struct wvp_context* context = aligned(memory);
  uint32_t count = wvp_engine_waiting(&context->engine, context->blocked, entries, capacity);
  for (uint32_t slot = 0; slot <= WVP_SLOTS; slot++) {
    if (!(context->engine.computing >> slot & 1u)) continue;
    if (count < capacity) {
      entries[count] = (struct wvp_waiting){.command = context->compute_command[slot],
                                            .blocking = context->blocked == slot,
                                            .peer = 0xffffffffu};
    }
    count++;
  }
  return count;
}
