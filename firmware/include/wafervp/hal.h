/* SPDX-License-Identifier: Apache-2.0
 * The hardware abstraction that a target (host, rv32) provides and all firmware uses. C11. */
#ifndef WAFERVP_HAL_H
#define WAFERVP_HAL_H

#include <stddef.h>
#include <stdint.h>

#include "wafervp/program.h"
#include "wafervp/registers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One control processor as its firmware sees it. On the host `bus` and the two functions come from
 * the platform; on rv32 they are volatile accesses. The rings and the walks lie in local memory that the
 * message engine shares. */
struct wvp_hal {
  void* bus;
  uint32_t (*read32)(void* bus, uint32_t offset);
  void (*write32)(void* bus, uint32_t offset, uint32_t value);
  struct wvp_descriptor* descriptors;       /* descriptor ring, DQ_SIZE entries */
  const struct wvp_completion* completions; /* completion ring, CQ_SIZE entries */
  struct wvp_walk* walks;                   /* walk table, WALKS entries, zeroed */
  /* Charge the cost of one schedule step (firmware.step_ns on the host, nothing on rv32, where
   * instructions cost time by themselves). Writes after it happen that much later. */
  void (*charge_step)(void* bus);
};

/* Firmware entry points. The context is memory of wvp_context_bytes() that the boot code hands over
 * zeroed; firmware keeps no other state. */
struct wvp_context;
size_t wvp_context_bytes(void);
/* Starts the program: executes commands until the first one that has to wait. `comms` and `program`
 * stay readable for the whole run. */
void wvp_boot(struct wvp_context* context, const struct wvp_hal* hal, const struct wvp_command* program,
              const struct wvp_comm* comms, uint32_t comm_count);
/* Handles all new completions and goes on with the program; called when a completion was written. */
void wvp_progress(struct wvp_context* context);
/* A completion with this cookie probably comes soon: a hint to bring what wvp_progress() will read into the
 * cache, of use where many contexts share a processor. Changes nothing. */
void wvp_prepare(const struct wvp_context* context, uint32_t cookie);

/* The algorithm that a START command runs by on its communicator (0 for send and receive): the one it names,
 * or what `auto` comes to. Reads nothing else, so that reports can ask. */
uint32_t wvp_algorithm_of(const struct wvp_command* command, const struct wvp_comm* comm);

/* Why a rank is not done, for a deadlock report: fills up to `capacity` entries, returns the number
 * there are. Reads state only. */
struct wvp_waiting {
  uint32_t command;  /* index of the command whose operation waits */
  uint32_t blocking; /* 1: the program itself is blocked on it */
  uint8_t op;        /* enum wvp_operation; 0 for compute */
  uint32_t peer;     /* NPU or WVP_FROM_FLOW | flow whose message is missing */
  uint64_t bytes;    /* of that message; 0 where only the end of own sends is awaited */
  uint32_t chunk, step;
};
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Wshadow" /* C++ takes the function for a shadow of the struct's constructor */
#endif
uint32_t wvp_waiting(const struct wvp_context* context, struct wvp_waiting* entries, uint32_t capacity);
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

#ifdef __cplusplus
}
#endif
#endif
