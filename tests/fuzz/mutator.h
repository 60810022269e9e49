// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace wafervp {

/// Wrong and odd variants of JSON texts. The same seed and seeds' texts give the same mutants everywhere.
class Mutator {
 public:
  explicit Mutator(std::vector<std::string> texts) : texts_(std::move(texts)) {}

  struct Mutant {
    std::size_t origin;  // index of the text that it was made from
    std::string text;
  };
  /// Mutant number `index` of a seed, independent of all others.
  Mutant make(std::uint64_t seed, std::uint64_t index) const;

 private:
  class Draw;
  void change_bytes(std::string& text, Draw& draw) const;
  void change_tokens(std::string& text, Draw& draw) const;
  void change_structure(std::string& text, Draw& draw) const;
  void change_numbers(std::string& text, Draw& draw) const;

  std::vector<std::string> texts_;
};

}  // namespace wafervp
