// SPDX-License-Identifier: Apache-2.0
#include "scenario/validate.h"

#include <cmath>

#include "scenario/json_parser.h"
#include "scenario/merge.h"
#include "scenario/text.h"
#include "scenario/unit_hint.h"
#include "scenario/version.h"

namespace wafervp {
namespace {

std::string with_unit(const Descriptor& descriptor) {
  return type_name(descriptor) + (descriptor.unit.empty() ? "" : " in " + descriptor.unit);
}

bool is_decimal(const std::string& text) {
  return !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string::npos &&
         (text.size() == 1 || text[0] != '0');
}

/// What holds for each element of a list or map.
Descriptor element_of(const Descriptor& descriptor) {
  Descriptor element;
  element.type = descriptor.type == ValueType::kNumberMap ? ValueType::kNumber : ValueType::kInteger;
  element.unit = descriptor.unit;
  element.least = descriptor.least;
  element.most = descriptor.most;
  element.low = descriptor.low;
  element.high = descriptor.high;
  element.above_low = descriptor.above_low;
  return element;
}

std::string place_name(const std::string& pointer) { return pointer.empty() ? "the top level" : pointer; }

}  // namespace

void Validator::read(const DescriptorNode& tree, void* root) { object(tree, &document_.value, "", root); }

bool Validator::sound(std::initializer_list<const char*> pointers) const {
  if (faulty_.empty()) return true;
  for (const char* pointer : pointers) {
    std::string at = pointer;
    for (;;) {
      if (faulty_.count(at) != 0) return false;
      if (at.empty()) break;
      at.resize(at.rfind('/'));
    }
  }
  return true;
}

bool Validator::present(const std::string& pointer) const {
  return find_value(document_.value, pointer) != nullptr;
}

void Validator::fault(const std::string& pointer, std::string text) {
  faulty_.insert(pointer);
  if (issues_.size() <= 2 * kMaxIssues) issues_.push_back(make_issue(document_, pointer, std::move(text)));
}

void Validator::object(const DescriptorNode& node, const Json* value, const std::string& pointer,
                       void* root) {
  if (value != nullptr) {
    for (const auto& item : value->items()) {
      if (node.child(item.key()) != nullptr) continue;
      // The member that was meant has a fault now: what follows from its absence is not told.
      const std::string meant = unknown(node, item.key(), pointer);
      if (!meant.empty() && !value->contains(meant)) faulty_.insert(pointer + '/' + pointer_token(meant));
    }
  }
  for (const DescriptorNode& child : node.children) {
    const auto found_at = value == nullptr ? Json::const_iterator() : value->find(child.name);
    if (value != nullptr && found_at != value->end()) {
      member(child, *found_at, pointer + '/' + pointer_token(child.name), root);
      continue;
    }
    const Descriptor& descriptor = *child.descriptor;
    const bool misspelt = faulty_.count(pointer + '/' + pointer_token(child.name)) != 0;
    if (descriptor.required && value != nullptr && !misspelt) missing(descriptor, pointer);
    if (descriptor.type == ValueType::kObject) {
      object(child, nullptr, {}, root);
    } else if (descriptor.set && !descriptor.default_value.is_null()) {
      descriptor.set(root, descriptor.default_value);
    }
  }
}

void Validator::member(const DescriptorNode& node, const Json& value, const std::string& pointer,
                       void* root) {
  const Descriptor& descriptor = *node.descriptor;
  if (descriptor.type == ValueType::kObject) {
    if (!value.is_object()) wrong_type(descriptor, value, pointer);
    object(node, value.is_object() ? &value : nullptr, pointer, root);
  } else if (check(descriptor, value, pointer)) {
    if (descriptor.set) descriptor.set(root, value);
  } else if (descriptor.set && !descriptor.default_value.is_null()) {
    descriptor.set(root, descriptor.default_value);
  }
}

bool Validator::check(const Descriptor& descriptor, const Json& value, const std::string& pointer) {
  switch (descriptor.type) {
    case ValueType::kBoolean:
      return value.is_boolean() || wrong_type(descriptor, value, pointer);
    case ValueType::kInteger:
      return check_integer(descriptor, value, pointer);
    case ValueType::kNumber:
      return check_number(descriptor, value, pointer);
    case ValueType::kText:
      return check_text(descriptor, value, pointer);
    case ValueType::kWord:
      return check_word(descriptor, value, pointer);
    case ValueType::kIntegerList:
      return check_list(descriptor, value, pointer);
    case ValueType::kIntegerMap:
    case ValueType::kNumberMap:
      return check_map(descriptor, value, pointer);
    case ValueType::kRecordList:
      return check_records(descriptor, value, pointer);
    case ValueType::kObject:
    case ValueType::kPatch:
    case ValueType::kNamed:
      break;
  }
  return value.is_object() || wrong_type(descriptor, value, pointer);
}

bool Validator::check_integer(const Descriptor& descriptor, const Json& value, const std::string& pointer) {
  if (!value.is_number()) return wrong_type(descriptor, value, pointer);
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number != std::floor(number)) {
      fault(pointer, "expected " + with_unit(descriptor) + ", found " + found(value, pointer));
      return false;
    }
    if (number < 0 || number >= 18446744073709551616.0) {
      return out_of_range(descriptor, pointer, found(value, pointer), number < 0);
    }
  } else if (value.is_number_integer() && !value.is_number_unsigned() && value.get<std::int64_t>() < 0) {
    return out_of_range(descriptor, pointer, found(value, pointer), true);
  }
  const auto number = value.get<std::uint64_t>();
  if (number < descriptor.least || number > descriptor.most) {
    return out_of_range(descriptor, pointer, found(value, pointer), number < descriptor.least);
  }
  return true;
}

bool Validator::check_number(const Descriptor& descriptor, const Json& value, const std::string& pointer) {
  if (!value.is_number()) return wrong_type(descriptor, value, pointer);
  const auto number = value.get<double>();
  const bool is_below = number < descriptor.low || (descriptor.above_low && number == descriptor.low);
  if (is_below || number > descriptor.high) {
    return out_of_range(descriptor, pointer, found(value, pointer), is_below);
  }
  return true;
}

bool Validator::check_word(const Descriptor& descriptor, const Json& value, const std::string& pointer) {
  if (!value.is_string()) return wrong_type(descriptor, value, pointer);
  const auto& word = value.get_ref<const std::string&>();
  for (const std::string& known : descriptor.words) {
    if (word == known) return true;
  }
  for (const std::string& later : descriptor.words_to_come) {
    if (word != later) continue;
    fault(pointer,
          "found " + quote(word) + ", which is not there yet; allowed: " + join_words(descriptor.words));
    return false;
  }
  const std::string near = nearest_word(word, descriptor.words);
  fault(pointer, "found " + quote(word) + (near.empty() ? "" : "; did you mean " + near + "?") +
                     (near.empty() ? "; allowed: " : " allowed: ") + join_words(descriptor.words));
  return false;
}

bool Validator::check_text(const Descriptor& descriptor, const Json& value, const std::string& pointer) {
  if (!value.is_string()) return wrong_type(descriptor, value, pointer);
  const std::size_t length = count_characters(value.get_ref<const std::string&>());
  if (length <= descriptor.most) return true;
  fault(pointer, "found " + std::to_string(length) + " characters; allowed: " + range_text(descriptor));
  return false;
}

bool Validator::check_list(const Descriptor& descriptor, const Json& value, const std::string& pointer) {
  if (!value.is_array()) return wrong_type(descriptor, value, pointer);
  if (value.size() > descriptor.max_items) {
    fault(pointer, "found " + std::to_string(value.size()) + " items; at most " +
                       std::to_string(descriptor.max_items) + " are allowed");
    return false;
  }
  bool all = true;
  const Descriptor element = element_of(descriptor);
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!check_integer(element, value[i], pointer + '/' + std::to_string(i))) all = false;
  }
  if (!all) faulty_.insert(pointer);
  return all;
}

bool Validator::check_map(const Descriptor& descriptor, const Json& value, const std::string& pointer) {
  if (!value.is_object()) return wrong_type(descriptor, value, pointer);
  if (value.size() > descriptor.max_items) {
    fault(pointer, "found " + std::to_string(value.size()) + " members; at most " +
                       std::to_string(descriptor.max_items) + " are allowed");
    return false;
  }
  bool all = true;
  const Descriptor element = element_of(descriptor);
  for (const auto& [name, entry] : value.items()) {
    const std::string inner = pointer + '/' + pointer_token(name);
    if (descriptor.key == KeyKind::kNpu && !is_decimal(name)) {
      fault(inner, "expected an NPU number as the member's name, found " + quote(name));
      all = false;
    } else if (!check(element, entry, inner)) {
      all = false;
    }
  }
  if (!all) faulty_.insert(pointer);
  return all;
}

bool Validator::check_records(const Descriptor& descriptor, const Json& value, const std::string& pointer) {
  if (!value.is_array()) return wrong_type(descriptor, value, pointer);
  if (value.size() > descriptor.max_items) {
    fault(pointer, "found " + std::to_string(value.size()) + " items; at most " +
                       std::to_string(descriptor.max_items) + " are allowed");
    return false;
  }
  const std::size_t before = issues_.size();
  DescriptorNode tree = make_tree(descriptor.members);
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::string inner = pointer + '/' + std::to_string(i);
    if (!value[i].is_object()) {
      fault(inner, "expected an object, found " + found(value[i], inner));
      continue;
    }
    for (const auto& [name, entry] : value[i].items()) {
      const DescriptorNode* node = tree.child(name);
      if (node == nullptr) {
        unknown(tree, name, inner);
      } else {
        check(*node->descriptor, entry, inner + '/' + pointer_token(name));
      }
    }
    for (const DescriptorNode& node : tree.children) {
      if (node.descriptor->required && !value[i].contains(node.name)) missing(*node.descriptor, inner);
    }
  }
  if (issues_.size() != before) faulty_.insert(pointer);
  return issues_.size() == before;
}

std::string Validator::unknown(const DescriptorNode& node, const std::string& name,
                               const std::string& pointer) {
  const std::vector<std::string> names = node.names();
  const std::string near = nearest_word(name, names);
  if (issues_.size() > 2 * kMaxIssues) return near;
  const std::string text = "unknown member " + quote(name) + " in " + place_name(pointer) + "; " +
                           (near.empty() ? "allowed: " : "did you mean " + near + "? allowed: ") +
                           join_words(names);
  // The place is that of the member, the pointer that of the object that should not have it.
  Issue issue = make_issue(document_, pointer + '/' + pointer_token(name), text);
  issue.pointer.resize(issue.pointer.rfind('/'));
  issues_.push_back(std::move(issue));
  return near;
}

void Validator::missing(const Descriptor& descriptor, const std::string& pointer) {
  const std::string name = descriptor.pointer.substr(descriptor.pointer.rfind('/') + 1);
  std::string text = "required member " + quote(name) + " (" + with_unit(descriptor) + ") is missing";
  if (descriptor.type == ValueType::kWord) text += "; allowed: " + join_words(descriptor.words);
  fault(pointer, std::move(text));
  faulty_.erase(pointer);
  faulty_.insert(pointer + '/' + name);
}

bool Validator::wrong_type(const Descriptor& descriptor, const Json& value, const std::string& pointer) {
  std::string text = "expected " + with_unit(descriptor);
  if (descriptor.type == ValueType::kWord) text = "expected one of " + join_words(descriptor.words);
  text += ", found " + found(value, pointer);
  const bool is_numeric = descriptor.type == ValueType::kInteger || descriptor.type == ValueType::kNumber;
  if (value.is_string() && is_numeric) {
    text += quoted_number_hint(value.get_ref<const std::string&>(), descriptor.unit);
  } else if (value.is_string() && descriptor.type == ValueType::kBoolean) {
    const auto& word = value.get_ref<const std::string&>();
    if (word == "true" || word == "false") text += "; remove the quotes";
  } else if (value.is_null() && !descriptor.required) {
    text += "; leave the member out for its default";
  } else if (value.is_number() && descriptor.type == ValueType::kText) {
    text += "; put it in double quotes";
  }
  fault(pointer, std::move(text));
  return false;
}

bool Validator::out_of_range(const Descriptor& descriptor, const std::string& pointer,
                             const std::string& value, bool is_below) {
  std::string text = "found " + value + ", ";
  const bool is_integer = descriptor.type == ValueType::kInteger;
  if (is_below) {
    const std::string low = is_integer ? std::to_string(descriptor.least) : format_number(descriptor.low);
    text += descriptor.above_low ? "must be greater than " + low : "below the smallest legal value " + low;
  } else {
    text += "above the largest legal value " +
            (is_integer ? std::to_string(descriptor.most) : format_number(descriptor.high));
  }
  fault(pointer, text + "; allowed: " + range_text(descriptor));
  return false;
}

std::string Validator::found(const Json& value, const std::string& pointer) const {
  const auto origin = document_.origins.find(pointer);
  return describe(value, origin == document_.origins.end() ? std::string() : origin->second.typed);
}

}  // namespace wafervp
