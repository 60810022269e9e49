// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace wafervp {

/* X(name, offset, access, reset, text); as the registers of accelerators. */
#define WAFERVP_COMPRESSION_REGISTERS(X)                                                                   \
  X(ID, 0x000, RO, 0x57564355u, "magic: 'WVCU'")                                                           \
  X(SELECT, 0x010, RW, 0u, "which messages CODEC to TABLE_HI are of: 4 * traffic class + tensor, 0 to 15") \
  X(CODEC, 0x014, RW, 0u, "1 + number of the codec; 0: off. Takes 0 and what it was built with")           \
  X(K, 0x018, RO, 0u, "columns of U of a subspace codec, else 0")                                          \
  X(U_VERSION, 0x01c, RW, 0u, "version of U; messages of another one are refused")                         \
  X(TABLE_LO, 0x020, RW, 0u, "device address of the tables of fixed embeddings, low word")                 \
  X(TABLE_HI, 0x024, RW, 0u, "device address of the tables, high word")                                    \
  X(EGRESS_MESSAGES, 0x040, RO, 0u, "messages compressed, low word of all counters first")                 \
  X(EGRESS_MESSAGES_HI, 0x044, RO, 0u, "high word")                                                        \
  X(EGRESS_DENSE, 0x048, RO, 0u, "their bytes of values")                                                  \
  X(EGRESS_DENSE_HI, 0x04c, RO, 0u, "high word")                                                           \
  X(EGRESS_WIRE, 0x050, RO, 0u, "their bytes of payload")                                                  \
  X(EGRESS_WIRE_HI, 0x054, RO, 0u, "high word")                                                            \
  X(EGRESS_BUSY, 0x058, RO, 0u, "ps that the egress engine was busy")                                      \
  X(EGRESS_BUSY_HI, 0x05c, RO, 0u, "high word")                                                            \
  X(INGRESS_MESSAGES, 0x060, RO, 0u, "messages decompressed")                                              \
  X(INGRESS_MESSAGES_HI, 0x064, RO, 0u, "high word")                                                       \
  X(INGRESS_DENSE, 0x068, RO, 0u, "their bytes of values")                                                 \
  X(INGRESS_DENSE_HI, 0x06c, RO, 0u, "high word")                                                          \
  X(INGRESS_WIRE, 0x070, RO, 0u, "their bytes of payload")                                                 \
  X(INGRESS_WIRE_HI, 0x074, RO, 0u, "high word")                                                           \
  X(INGRESS_BUSY, 0x078, RO, 0u, "ps that the ingress engine was busy")                                    \
  X(INGRESS_BUSY_HI, 0x07c, RO, 0u, "high word")

enum CompressionRegister : std::uint32_t {
#define WAFERVP_COMPRESSION_ENUM(name, offset, access, reset, text) WVP_CU_##name = offset,
  WAFERVP_COMPRESSION_REGISTERS(WAFERVP_COMPRESSION_ENUM)
#undef WAFERVP_COMPRESSION_ENUM
};

}  // namespace wafervp
