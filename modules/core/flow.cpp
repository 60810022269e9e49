// SPDX-License-Identifier: Apache-2.0
#include "core/flow.h"

namespace wafervp {

namespace {
constexpr std::size_t kBlock = 256;
}

Message* MessagePool::acquire() {
  if (free_ == nullptr) {
    blocks_.push_back(std::make_unique<Message[]>(kBlock));
    for (std::size_t i = kBlock; i-- > 0;) {
      blocks_.back()[i].next_free = free_;
      free_ = &blocks_.back()[i];
    }
  }
  Message* message = free_;
  free_ = message->next_free;
  message->next_free = nullptr;
  ++outstanding_;
  return message;
}

void MessagePool::release(Message* message) {
  message->data.reset();
  message->windowed = false;
  message->next_free = free_;
  free_ = message;
  --outstanding_;
}

}  // namespace wafervp
