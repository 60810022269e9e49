// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

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
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  template <class T, class... Arguments>
  ArenaPointer<T> make(Arguments&&... arguments) {
    void* place = blocks_.allocate(sizeof(T), alignof(T));
    return ArenaPointer<T>(new (place) T(std::forward<Arguments>(arguments)...));
  }
  /// `count` elements of value zero, on cache lines of their own; they live as long as the arena.
  template <class T>
  T* make_array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_default_constructible_v<T>);
    T* elements = static_cast<T*>(blocks_.allocate(count * sizeof(T), kCacheLine));
    std::uninitialized_value_construct_n(elements, count);
    return elements;
  }

  /// For containers that live here: what they grow out of is not used again.
  std::pmr::memory_resource& memory() { return blocks_; }

 private:
  static constexpr std::size_t kCacheLine = 64;

  /// Small blocks first, so that a small wafer stays small; then one large page after the other, so that
  /// little of the last one is wasted.
  class Blocks final : public std::pmr::memory_resource {
   public:
    Blocks() = default;
    Blocks(const Blocks&) = delete;
    Blocks& operator=(const Blocks&) = delete;
    ~Blocks() override;

   private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
    void add_block(std::size_t least);

    std::vector<void*> blocks_;
    std::size_t next_size_ = std::size_t{64} << 10;
    std::byte* at_ = nullptr;
    std::size_t left_ = 0;
  };

  Blocks blocks_;
};

}  // namespace wafervp
