// SPDX-License-Identifier: Apache-2.0
#include "accelerator/registers.h"

#include <iterator>

#include "wafervp/registers.h"

namespace wafervp {

const RegisterMap& accelerator_registers() {
  static constexpr RegisterInfo kRegisters[] = {
#define WAFERVP_REGISTER(name, offset, access, reset, text) \
  {#name, offset, RegisterInfo::Access::access, reset, text},
      WVP_REGISTERS(WAFERVP_REGISTER)
#undef WAFERVP_REGISTER
  };
  static const RegisterMap map(kRegisters, std::size(kRegisters));
  return map;
}

}  // namespace wafervp
