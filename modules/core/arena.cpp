// SPDX-License-Identifier: Apache-2.0
#include "core/arena.h"

#include <algorithm>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace wafervp {

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr auto kBlockAlignment = std::align_val_t(kLargePage);

}  // namespace

Arena::Blocks::~Blocks() {
  for (void* block : blocks_) ::operator delete(block, kBlockAlignment);
}

void Arena::Blocks::add_block(std::size_t least) {
  std::size_t size = next_size_;
  next_size_ = std::min(2 * next_size_, kLargePage);
  if (size < least) size = (least + kLargePage - 1) / kLargePage * kLargePage;
  blocks_.reserve(blocks_.size() + 1);
  void* block = ::operator new(size, kBlockAlignment);
  blocks_.push_back(block);
#ifdef __linux__
  if (size >= kLargePage) ::madvise(block, size, MADV_HUGEPAGE);  // a wish: nothing depends on it
#endif
  at_ = static_cast<std::byte*>(block);
  left_ = size;
}

void* Arena::Blocks::do_allocate(std::size_t bytes, std::size_t alignment) {
  void* place = at_;
  if (std::align(alignment, bytes, place, left_) == nullptr) {
    add_block(bytes + alignment);
    place = at_;
    std::align(alignment, bytes, place, left_);
  }
  at_ = static_cast<std::byte*>(place) + bytes;
  left_ -= bytes;
  return place;
}

}  // namespace wafervp
