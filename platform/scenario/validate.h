// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "scenario/descriptors.h"

namespace wafervp {

/// Holds a document against a table and fills the typed struct of that table.
class Validator {
 public:
  Validator(const Document& document, std::vector<Issue>& issues) : document_(document), issues_(issues) {}

  /// Members that are absent get their default; faulty ones keep their value-initialised field.
  void read(const DescriptorNode& tree, void* root);

  /// True when all these members are without fault, so that they can be judged together.
  bool sound(std::initializer_list<const char*> pointers) const;
  bool present(const std::string& pointer) const;
  /// Reports a fault of a member.
  void fault(const std::string& pointer, std::string text);

 private:
  void object(const DescriptorNode& node, const Json* value, const std::string& pointer, void* root);
  void member(const DescriptorNode& node, const Json& value, const std::string& pointer, void* root);
  bool check(const Descriptor& descriptor, const Json& value, const std::string& pointer);
  bool check_integer(const Descriptor& descriptor, const Json& value, const std::string& pointer);
  bool check_number(const Descriptor& descriptor, const Json& value, const std::string& pointer);
  bool check_word(const Descriptor& descriptor, const Json& value, const std::string& pointer);
  bool check_text(const Descriptor& descriptor, const Json& value, const std::string& pointer);
  bool check_list(const Descriptor& descriptor, const Json& value, const std::string& pointer);
  bool check_map(const Descriptor& descriptor, const Json& value, const std::string& pointer);
  bool check_records(const Descriptor& descriptor, const Json& value, const std::string& pointer);
  /// Returns the name that was meant, or an empty one.
  std::string unknown(const DescriptorNode& node, const std::string& name, const std::string& pointer);
  void missing(const Descriptor& descriptor, const std::string& pointer);
  bool wrong_type(const Descriptor& descriptor, const Json& value, const std::string& pointer);
  bool out_of_range(const Descriptor& descriptor, const std::string& pointer, const std::string& found,
                    bool is_below);
  std::string found(const Json& value, const std::string& pointer) const;

  const Document& document_;
  std::vector<Issue>& issues_;
  std::set<std::string> faulty_;
};

}  // namespace wafervp
