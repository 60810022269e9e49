// SPDX-License-Identifier: Apache-2.0
#include "link/link.h"

namespace wafervp {

Link::Link(sc_core::sc_module_name name, const LinkConfig& config, Calendar& calendar, Arena* arena)
    : LinkModule(name), own_arena_(arena == nullptr ? std::make_unique<Arena>() : nullptr) {
  Arena& home = arena == nullptr ? *own_arena_ : *arena;
  engine_ = home.make<LinkEngine>(config, calendar, home);
  in.bind(*engine_);
  out.bind(*engine_);
}

void Link::end_of_elaboration() { engine_->bind(*out.operator->(), *in.operator->()); }

}  // namespace wafervp
