/* SPDX-License-Identifier: Apache-2.0
 * The register map, descriptors and completions of an accelerator's message engine, written once:
 * firmware, the TLM model and the documentation are made from this file. C11 and C++17. */
#ifndef WAFERVP_REGISTERS_H
#define WAFERVP_REGISTERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, offset, access, reset, text); access is RO, WO or RW; every register is 32 bits wide and
 * takes aligned 32-bit accesses only. */
#define WVP_REGISTERS(X)                                                                           \
  X(ID, 0x000, RO, 0x57565031u, "magic: 'WVP1'")                                                   \
  X(NPU, 0x004, RO, 0u, "number of this NPU on the wafer")                                         \
  X(NPUS, 0x008, RO, 0u, "number of NPUs on the wafer")                                            \
  X(TIME_LO, 0x010, RO, 0u, "simulated time in ps, low word; reading it latches TIME_HI")          \
  X(TIME_HI, 0x014, RO, 0u, "simulated time in ps, high word, latched by TIME_LO")                 \
  X(DQ_SIZE, 0x020, RO, 0u, "entries of the descriptor ring, a power of two")                      \
  X(DQ_DOORBELL, 0x024, WO, 0u, "free-running producer index of the descriptor ring")              \
  X(DQ_HEAD, 0x028, RO, 0u, "free-running consumer index of the descriptor ring")                  \
  X(CQ_SIZE, 0x030, RO, 0u, "entries of the completion ring, a power of two")                      \
  X(CQ_HEAD, 0x034, RW, 0u, "free-running consumer index of the completion ring, set by firmware") \
  X(CQ_TAIL, 0x038, RO, 0u, "free-running producer index of the completion ring")                  \
  X(WALKS, 0x03c, RO, 0u, "entries of the walk table")                                             \
  X(EXIT, 0x040, WO, 0u, "firmware is done; the value is its status (WVP_EXIT_...)")               \
  X(ERROR_OP, 0x044, RW, 0u, "before EXIT with a failure: command index that failed")              \
  X(ERROR_PEER, 0x048, RW, 0u, "before EXIT with a failure: peer NPU or 0xffffffff")               \
  X(ERROR_EXPECTED_LO, 0x04c, RW, 0u, "before EXIT with a failure: bytes expected, low word")      \
  X(ERROR_EXPECTED_HI, 0x050, RW, 0u, "bytes expected, high word")                                 \
  X(ERROR_FOUND_LO, 0x054, RW, 0u, "before EXIT with a failure: bytes found, low word")            \
  X(ERROR_FOUND_HI, 0x058, RW, 0u, "bytes found, high word")                                       \
  X(PHASE, 0x060, WO, 0u, "mark: (class << 28) | (kind << 24) | command index, see WVP_PHASE_...")

enum wvp_register {
#define WVP_REGISTER_ENUM(name, offset, access, reset, text) WVP_REG_##name = offset,
  WVP_REGISTERS(WVP_REGISTER_ENUM)
#undef WVP_REGISTER_ENUM
};

/* Written to PHASE so that the platform attributes time without looking into firmware state. OP_BEGIN and
 * OP_END carry the operation's enum wvp_class: with pre-emption the message engine holds back the classes
 * behind it while it is open. */
enum wvp_phase {
  WVP_PHASE_OP_BEGIN = 1, /* an operation (collective, send, receive) was entered */
  WVP_PHASE_OP_END = 2,   /* an operation finished on this rank */
  WVP_PHASE_WAIT = 3,     /* the program blocks on the operation of that command */
  WVP_PHASE_RESUME = 4,   /* the program goes on */
};

enum wvp_exit {
  WVP_EXIT_OK = 0,
  WVP_EXIT_SIZE_MISMATCH = 1, /* a peer's message has another size than this rank expects */
  WVP_EXIT_UNSUPPORTED = 2,   /* the combination of operation, algorithm and group is refused */
  WVP_EXIT_BAD_COMMAND = 3,   /* a command or communicator is malformed */
  WVP_EXIT_RING_OVERRUN = 4,  /* the completion ring was overrun or a descriptor refused */
};

/* Element types of reductions. The size in bytes is wvp_dtype_bytes(). */
enum wvp_dtype { WVP_FP32 = 0, WVP_FP16 = 1, WVP_BF16 = 2, WVP_INT32 = 3, WVP_FP64 = 4 };

static inline uint32_t wvp_dtype_bytes(uint32_t dtype) {
  return dtype == WVP_FP64 ? 8u : (dtype == WVP_FP16 || dtype == WVP_BF16) ? 2u : 4u;
}

/* Traffic classes; the flows of each are kept apart. */
enum wvp_class { WVP_CLASS_MP = 0, WVP_CLASS_PP = 1, WVP_CLASS_DP = 2, WVP_CLASS_CONTROL = 3 };

/* What a message holds, for a compression unit on its way: not all codecs treat all alike. */
enum wvp_tensor {
  WVP_TENSOR_NONE = 0,     /* none of these */
  WVP_TENSOR_FORWARD = 1,  /* activations */
  WVP_TENSOR_BACKWARD = 2, /* gradients of activations */
  WVP_TENSOR_STREAM = 3,   /* between off-wafer memory and NPUs */
};

/* What a descriptor asks for. The parts run in the order COMBINE, SEND, EXPECT; a part that is not
 * asked for is skipped. COMPUTE and COPY stand alone. */
enum wvp_descriptor_flags {
  WVP_D_COMBINE_REDUCE = 1u << 0, /* staged message `staged`: combine_addr[] += message, then free it */
  WVP_D_COMBINE_COPY = 1u << 1,   /* staged message `staged`: combine_addr[] = message, then free it */
  WVP_D_COMBINE_DROP = 1u << 2,   /* free the staged message `staged` */
  WVP_D_SEND = 1u << 3,           /* send send_bytes from send_addr to NPU send_to (after COMBINE) */
  WVP_D_SEND_FLOW = 1u << 4,      /* with SEND: send_to is the handle of an in-network flow */
  WVP_D_NOTIFY_SENT = 1u << 5,    /* with SEND: a completion WVP_C_SENT when the last byte has left */
  WVP_D_EXPECT = 1u << 6,         /* completion WVP_C_RECEIVED once (expect_from, expect_tag) is here */
  WVP_D_COMPUTE = 1u << 7,        /* completion WVP_C_COMPUTED when the compute engine has done it */
  WVP_D_COPY = 1u << 8,           /* combine_addr[] = send_addr[], send_bytes; completion WVP_C_COPIED */
  WVP_D_WINDOW = 1u << 9,         /* with SEND: at most two such messages of a flow are in flight, the
                                     others wait sorted by (priority, posting order) */
  WVP_D_NOTIFY_COMBINED =
      1u << 10,          /* with COMBINE: a completion WVP_C_COPIED when the COMBINE part is done */
  WVP_D_WALK = 1u << 11, /* with EXPECT: the message engine takes the steps of walk `cookie` first; sender,
                            tag and size of the message that is expected then are those of the walk */
  WVP_D_LAST =
      1u << 12, /* with SEND: the last one of all that the strand with this cookie sends. With pre-emption
                   the engine holds back other classes until the last one of each strand has left */
  WVP_D_TENSOR = 3u << 13, /* with SEND: enum wvp_tensor in these bits */
};
#define WVP_D_TENSOR_SHIFT 13

/* EXPECT from a flow: the result of an in-network collective has this sender. */
#define WVP_FROM_FLOW 0x80000000u /* or-ed with the flow handle in expect_from */

struct wvp_descriptor {
  uint32_t flags;
  uint32_t cookie; /* returned in each completion of this descriptor */
  uint32_t send_to;
  uint32_t priority; /* lower goes first, only with WVP_D_WINDOW */
  uint64_t send_tag;
  uint64_t send_addr;
  uint64_t send_bytes; /* 0 is legal: a message of one header packet that carries no payload */
  uint32_t expect_from;
  uint32_t staged;
  uint64_t expect_tag;
  uint64_t expect_bytes; /* the completion says WVP_S_SIZE_MISMATCH when the message differs */
  uint64_t combine_addr;
  uint8_t dtype;         /* enum wvp_dtype, for COMBINE_REDUCE and for in-network sums */
  uint8_t traffic_class; /* enum wvp_class, with SEND */
  uint16_t reserved;
  uint32_t kernel; /* COMPUTE: what is computed where the run carries values, 0: nothing; send_tag is its
                      argument */
  /* COMPUTE: compute_ps if not 0, else the roofline max(flops / peak, bytes / memory rate). */
  uint64_t compute_flops; /* floating-point operations */
  uint64_t compute_bytes; /* bytes of HBM traffic */
  uint64_t compute_ps;    /* fixed time in ps */
};

/* A walk: equal steps over the shares of a vector that the message engine takes by itself. A step waits for
 * message (from, tag) of the size of share `share`, combines it with that share, adds one to `tag` and sends
 * the share with that tag to NPU send_to; then share - 1 (cyclic) is next. With the last of the `left` steps
 * the walk is over, and message (from, tag) completes the EXPECT that started it.
 * Share i begins at address + i * stride + min(i, longer) units (+ 1 unit for WVP_W_MORE_AT where
 * i < longer) and has bytes (+ 1 unit for WVP_W_MORE_IN where i < longer); a unit is an element of `dtype`,
 * or a byte with WVP_W_BYTES. A message of another size ends the walk early: it completes the EXPECT with
 * WVP_S_SIZE_MISMATCH, and `left` says how many steps were not taken.
 * The walk table lies in local memory that firmware and message engine share, one cache line an entry;
 * firmware may read a walk that is under way and must not write it. */
struct wvp_walk {
  uint64_t address; /* device address */
  uint64_t stride, bytes;
  uint64_t tag;
  uint32_t share, shares;
  uint32_t longer;
  uint32_t from, send_to; /* NPUs; WVP_FROM_FLOW | flow only where firmware alone uses the entry */
  uint32_t left;
  uint32_t priority;     /* as in a descriptor, with WVP_W_WINDOW */
  uint8_t flags;         /* enum wvp_walk_flags */
  uint8_t dtype;         /* enum wvp_dtype */
  uint8_t traffic_class; /* enum wvp_class */
  uint8_t under_way;     /* written by the message engine only */
};

enum wvp_walk_flags {
  WVP_W_REDUCE = 1u << 0, /* share[] += message; else share[] = message */
  WVP_W_WINDOW = 1u << 1, /* sends as with WVP_D_WINDOW */
  WVP_W_MORE_AT = 1u << 2,
  WVP_W_MORE_IN = 1u << 3,
  WVP_W_BYTES = 1u << 4,
  WVP_W_TENSOR = 3u << 5, /* enum wvp_tensor in these bits */
};
#define WVP_W_TENSOR_SHIFT 5

static inline uint32_t wvp_walk_unit(const struct wvp_walk* walk) {
  return walk->flags & WVP_W_BYTES ? 1u : wvp_dtype_bytes(walk->dtype);
}
static inline uint64_t wvp_share_address(const struct wvp_walk* walk, uint32_t share) {
  const uint32_t longer = share < walk->longer;
  const uint32_t before =
      (longer ? share : walk->longer) + (longer && (walk->flags & WVP_W_MORE_AT) ? 1u : 0u);
  return walk->address + share * walk->stride + (uint64_t)before * wvp_walk_unit(walk);
}
static inline uint64_t wvp_share_bytes(const struct wvp_walk* walk, uint32_t share) {
  return walk->bytes + (share < walk->longer && (walk->flags & WVP_W_MORE_IN) ? wvp_walk_unit(walk) : 0u);
}

enum wvp_completion_kind { WVP_C_RECEIVED = 1, WVP_C_SENT = 2, WVP_C_COMPUTED = 3, WVP_C_COPIED = 4 };
enum wvp_completion_status { WVP_S_OK = 0, WVP_S_SIZE_MISMATCH = 1 };

/* The completion ring has a phase bit as NVMe has it: an entry is new when `phase` is
 * 1 on even and 0 on odd passes over the ring: phase == !((index / CQ_SIZE) & 1). */
struct wvp_completion {
  uint32_t cookie;
  uint8_t kind;
  uint8_t status;
  uint8_t phase;
  uint8_t reserved;
  uint32_t from;   /* RECEIVED: sender */
  uint32_t staged; /* RECEIVED: handle of the staged message, until a COMBINE part frees it */
  uint64_t tag;
  uint64_t bytes; /* RECEIVED: bytes of the message */
};

#ifdef __cplusplus
}
#endif
#endif
