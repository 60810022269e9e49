// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scenario/reader.h"

namespace wafervp {

enum class ValueType {
  kObject,  // holds the descriptors below its pointer
  kBoolean,
  kInteger,  // 0 or more; 8.0 and 8e0 are 8
  kNumber,
  kText,
  kWord,         // one of `words`
  kIntegerList,  // array of integers, `least`..`most` each
  kIntegerMap,   // object of integers, keyed by `key`
  kNumberMap,    // object of numbers, keyed by `key`
  kRecordList,   // array of objects with `members`
  kPatch,        // of a study: a part of a scenario
  kNamed,        // of a study: an object whose members study.cpp reads
};
/// What the names of a map's members mean.
enum class KeyKind { kNpu, kLink };

/// All that is known of one member: reading, validation, messages, effective scenario, JSON Schema and
/// documentation come from this.
struct Descriptor {
  std::string pointer;
  ValueType type = ValueType::kObject;
  std::string unit;
  std::string documentation;
  bool required = false;
  Json default_value;  // null where `required`, or where `default_note` says what applies
  std::string default_note;
  std::uint64_t least = 0, most = 0;  // integers; text: most characters
  double low = 0, high = 0;           // numbers
  bool above_low = false;             // low itself is out of range
  std::size_t max_items = 0;          // lists and maps
  KeyKind key = KeyKind::kNpu;
  std::vector<std::string> words;
  std::vector<std::string> words_to_come;  // refused with a message of its own
  std::vector<Descriptor> members;         // of a record; pointers are relative to it
  /// Stores a valid value into the typed struct that the table is for.
  std::function<void(void*, const Json&)> set;
  std::function<Json(const void*)> get;
};

/// The table of all members of a scenario, in the order of the documentation.
const std::vector<Descriptor>& scenario_descriptors();
/// The table of a study's own members.
const std::vector<Descriptor>& study_descriptors();

/// A table as a tree of names.
struct DescriptorNode {
  std::string name;
  const Descriptor* descriptor = nullptr;  // null for the root
  std::vector<DescriptorNode> children;

  const DescriptorNode* child(const std::string& child_name) const;
  std::vector<std::string> names() const;
};
const DescriptorNode& scenario_tree();
const DescriptorNode& study_tree();
/// The tree of one record.
DescriptorNode make_tree(const std::vector<Descriptor>& table);

/// The descriptor of a scenario's member, or null.
const Descriptor* find_descriptor(const std::string& pointer);
/// Empty when `pointer` names a member of a scenario (or one inside a map, list or record), else what is
/// wrong with it, with the nearest name.
std::string unknown_pointer(const std::string& pointer);

/// "integer", "number", "one of the words", as messages and documentation name it.
std::string type_name(const Descriptor& descriptor);
/// "1 to 65536 NPUs"; empty when there is no range.
std::string range_text(const Descriptor& descriptor);

}  // namespace wafervp
