/* SPDX-License-Identifier: Apache-2.0
 * What the loader lays into a control processor's memory: the program of one rank (a list of
 * commands) and the communicators that it names. C11 and C++17. */
#ifndef WAFERVP_PROGRAM_H
#define WAFERVP_PROGRAM_H

#include <stdint.h>

#include "wafervp/registers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, value, "name in a scenario") */
#define WVP_OPERATIONS(X)                \
  X(ALL_REDUCE, 1, "all_reduce")         \
  X(REDUCE_SCATTER, 2, "reduce_scatter") \
  X(ALL_GATHER, 3, "all_gather")         \
  X(BROADCAST, 4, "broadcast")           \
  X(ALL_TO_ALL, 5, "all_to_all")         \
  X(SEND, 6, "send")                     \
  X(RECEIVE, 7, "receive")               \
  X(BARRIER, 8, "barrier")               \
  X(LOAD, 9, "load")                     \
  X(STORE, 10, "store")

#define WVP_ALGORITHMS(X)            \
  X(AUTO, 0, "auto")                 \
  X(RING, 1, "ring")                 \
  X(HIERARCHICAL, 2, "hierarchical") \
  X(IN_SWITCH, 3, "in_switch")       \
  X(DIRECT, 4, "direct")             \
  X(RELAY, 5, "relay")               \
  X(RING_BOTH, 6, "ring_both")       \
  X(TREE, 7, "tree")                 \
  X(BEST, 8, "best")

enum wvp_operation {
#define WVP_ENUM(name, value, text) WVP_OP_##name = value,
  WVP_OPERATIONS(WVP_ENUM)
#undef WVP_ENUM
};
enum wvp_algorithm {
#define WVP_ENUM(name, value, text) WVP_ALG_##name = value,
  WVP_ALGORITHMS(WVP_ENUM)
#undef WVP_ENUM
};

enum wvp_command_kind {
  WVP_CMD_END = 0,           /* the rank is done */
  WVP_CMD_COMPUTE = 1,       /* start the compute engine and wait for it */
  WVP_CMD_START = 2,         /* enter operation `op` without waiting; `slot` names it */
  WVP_CMD_WAIT = 3,          /* block until the operation last started in `slot` is done; a slot in which
                                nothing runs passes at once */
  WVP_CMD_COMPUTE_ASYNC = 4, /* start the compute engine; WAIT on `slot` */
};

#define WVP_SLOTS 16u /* operations in flight on one rank */

/* Sizes. `bytes` is the whole buffer of one rank: all_reduce and broadcast: the vector;
 * reduce_scatter: the input vector (a rank keeps bytes/n); all_gather: the output vector (a rank
 * brings its share of it); all_to_all: the send buffer (one share to each peer); send and receive:
 * the message; load and store: the vector, of which each I/O controller of the group keeps a share. Element
 * counts that n does not divide are shared out as evenly as can be, the first ranks taking one element more;
 * share i begins at the sum of the shares before it. Addresses: all_reduce and broadcast work in place on
 * `dst`; reduce_scatter reads and overwrites `dst` (the own share's place holds the result, the rest is
 * scratch); all_gather: own share already in its place of `dst`; all_to_all: from `src` to `dst`, where the
 * share from member j lies at j * (own share's size); send: from `src`; receive: to `dst`; load and store:
 * `dst`, at an I/O controller too (where only its share's place is used). */
struct wvp_command {
  uint8_t kind;           /* enum wvp_command_kind */
  uint8_t op;             /* enum wvp_operation */
  uint8_t algorithm;      /* enum wvp_algorithm */
  uint8_t dtype;          /* enum wvp_dtype */
  uint8_t traffic_class;  /* enum wvp_class */
  uint8_t slot;           /* 0 .. WVP_SLOTS-1 */
  uint16_t comm;          /* index in the communicator table */
  uint32_t root;          /* broadcast: index of the root in the communicator; send, receive: peer NPU
                             (these two use no communicator) */
  uint32_t chunks;        /* 0: chosen by the firmware */
  uint32_t active_chunks; /* chunks in flight together; 0: all */
  uint32_t sequence;      /* number of this operation on its communicator, the same on all members; for
                             send and receive: number of the message between the two */
  uint64_t bytes;
  uint64_t src, dst;
  uint64_t compute_flops, compute_bytes, compute_ps; /* as in wvp_descriptor; its kernel is in `root`, the
                                                        argument in `sequence` */
};

/* A group of NPUs, and for loads and stores of I/O controllers before them. The rank of an NPU is its index
 * in `members`. */
struct wvp_comm {
  uint32_t size;
  uint32_t my_index;
  const uint32_t* members; /* NPU numbers, in rank order; controller k has the number NPUS + k */
  uint32_t io_controllers; /* the first so many members are I/O controllers */
  /* Grid of a hierarchical algorithm: member (x, y) is members[y * dim_x + x]; 0 if there is none. */
  uint32_t dim_x, dim_y;
  /* Share of the data whose chunks go x first, in 1/65536; 65536: all (FRED: x is inside an L1). */
  uint32_t x_first_share;
  /* Handles of in-network flows, 0 if the fabric has none for this group: all-reduce = flows,
   * reduce to member j = flows + 1 + j, multicast from member j = flows + 1 + size + j. */
  uint32_t flows;
  /* For the choice `auto` (see firmware/collectives/README.md): rates of the slowest link on a ring
   * of all members, inside x and inside y, bytes per microsecond; latency of one ring hop in ps. */
  uint64_t ring_rate, x_rate, y_rate, flow_rate;
  uint64_t hop_latency_ps;
  /* For the choice `best`: rates of a ring both ways round, all of the data counted, and of all trees
   * together; 0 where they have not been measured. */
  uint64_t both_rate, tree_rate;
  /* Spanning trees of an all_reduce `tree`, as this member sees them; 0 if there are none. Word t of
   * `tree_links`, t < trees, is where tree t begins in it: index of the parent (at the root the own one),
   * number of children, their indices. */
  uint32_t trees;
  uint32_t tree_depth; /* hops between the root and the member farthest from it, of the deepest tree */
  const uint32_t* tree_links;
  uint16_t id;    /* the same on all members, part of each tag */
  uint8_t tensor; /* enum wvp_tensor: what its messages hold */
};

#ifdef __cplusplus
}
#endif
#endif
