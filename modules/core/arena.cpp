// SPDX-License-Identifier: Apache-2.0
#include "core/arena.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace wafervp {

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

void* Arena::LargeBlocks::do_allocate(std::size_t bytes, std::size_t alignment) {
  // A small wafer does not take a large page.
  if (bytes < kLargePage / 2) return ::operator new(bytes, std::align_val_t(alignment));
  const std::size_t size = rounded(bytes, kLargePage);
  void* block = ::operator new(size, std::align_val_t(kLargePage));
#ifdef __linux__
  ::madvise(block, size, MADV_HUGEPAGE);  // a wish: nothing depends on it
#endif
  return block;
}

void Arena::LargeBlocks::do_deallocate(void* block, std::size_t bytes, std::size_t alignment) {
  ::operator delete(block, std::align_val_t(bytes < kLargePage / 2 ? alignment : kLargePage));
}

}  // namespace wafervp
