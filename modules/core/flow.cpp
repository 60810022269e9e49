// SPDX-License-Identifier: Apache-2.0
#include "core/flow.h"

#include <utility>

namespace wafervp {

namespace {
constexpr std::size_t kBlock = 256;
}

void move_values(Bytes& to, Bytes& from) { to = std::move(from); }
void drop_values(Bytes& bytes) { bytes.reset(); }

void MessagePool::grow() {
  blocks_.push_back(std::make_unique<Message[]>(kBlock));
  for (std::size_t i = kBlock; i-- > 0;) {
    blocks_.back()[i].next_free = free_;
    free_ = &blocks_.back()[i];
  }
}

}  // namespace wafervp
