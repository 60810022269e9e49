// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

namespace wafervp {

/// Ends the life of an object of an Arena; its memory stays with the arena.
struct EndLife {
  template <class T>
  void operator()(T* object) const {
    object->~T();
  }
};
template <class T>
using ArenaPointer = std::unique_ptr<T, EndLife>;

/// Memory for the state of many alike modules: one behind the other in the order of asking, so that what is
/// used together lies together, and on large pages where the system has them. It is given back as a whole;
/// the arena outlives its objects.
class Arena {
 public:
  Arena() : memory_(&large_blocks_) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  template <class T, class... Arguments>
  ArenaPointer<T> make(Arguments&&... arguments) {
    return ArenaPointer<T>(new (memory_.allocate(sizeof(T), alignof(T)))
                               T(std::forward<Arguments>(arguments)...));
  }
  /// `count` elements of value zero, on cache lines of their own; they live as long as the arena.
  template <class T>
  T* make_array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_default_constructible_v<T>);
    T* elements = static_cast<T*>(memory_.allocate(count * sizeof(T), kCacheLine));
    std::uninitialized_value_construct_n(elements, count);
    return elements;
  }

  /// For containers that live here: what they grow out of is not used again.
  std::pmr::memory_resource& memory() { return memory_; }

 private:
  static constexpr std::size_t kCacheLine = 64;

  class LargeBlocks final : public std::pmr::memory_resource {
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
  };

  LargeBlocks large_blocks_;
  std::pmr::monotonic_buffer_resource memory_;
};

}  // namespace wafervp
