// SPDX-License-Identifier: Apache-2.0
#include "scenario/descriptors.h"

#include "scenario/table.h"
#include "scenario/text.h"

namespace wafervp {

const std::vector<Descriptor>& scenario_descriptors() {
  static const std::vector<Descriptor> table = [] {
    std::vector<Descriptor> all;
    describe_head(all);
    describe_wafer(all);
    describe_workload(all);
    describe_run(all);
    return all;
  }();
  return table;
}

const std::vector<Descriptor>& study_descriptors() {
  static const std::vector<Descriptor> table = [] {
    std::vector<Descriptor> all;
    describe_study(all);
    return all;
  }();
  return table;
}

DescriptorNode make_tree(const std::vector<Descriptor>& table) {
  DescriptorNode root;
  for (const Descriptor& descriptor : table) {
    DescriptorNode* node = &root;
    for (const std::string& name : pointer_names(descriptor.pointer)) {
      DescriptorNode* next = nullptr;
      for (DescriptorNode& child : node->children) {
        if (child.name == name) next = &child;
      }
      if (next == nullptr) {
        node->children.push_back({name, nullptr, {}});
        next = &node->children.back();
      }
      node = next;
    }
    node->descriptor = &descriptor;
  }
  return root;
}

const DescriptorNode& scenario_tree() {
  static const DescriptorNode tree = make_tree(scenario_descriptors());
  return tree;
}

const DescriptorNode& study_tree() {
  static const DescriptorNode tree = make_tree(study_descriptors());
  return tree;
}

const DescriptorNode* DescriptorNode::child(const std::string& child_name) const {
  for (const DescriptorNode& node : children) {
    if (node.name == child_name) return &node;
  }
  return nullptr;
}

std::vector<std::string> DescriptorNode::names() const {
  std::vector<std::string> out;
  for (const DescriptorNode& node : children) out.push_back(node.name);
  return out;
}

const Descriptor* find_descriptor(const std::string& pointer) {
  const DescriptorNode* node = &scenario_tree();
  for (const std::string& name : pointer_names(pointer)) {
    node = node->child(name);
    if (node == nullptr) return nullptr;
  }
  return node->descriptor;
}

std::string unknown_pointer(const std::string& pointer) {
  const DescriptorNode* node = &scenario_tree();
  std::string place;
  for (const std::string& name : pointer_names(pointer)) {
    if (node->descriptor != nullptr && node->descriptor->type != ValueType::kObject) {
      switch (node->descriptor->type) {
        case ValueType::kIntegerList:
        case ValueType::kIntegerMap:
        case ValueType::kNumberMap:
        case ValueType::kRecordList:
          return {};
        default:
          return place + " is " + type_name(*node->descriptor) + " and has no members";
      }
    }
    const DescriptorNode* next = node->child(name);
    if (next == nullptr) {
      const std::string near = nearest_word(name, node->names());
      return "no such member" + (near.empty() ? "" : "; did you mean " + place + '/' + near + '?') +
             "; allowed in " + (place.empty() ? "the top level" : place) + ": " + join_words(node->names());
    }
    node = next;
    place += '/' + name;
  }
  return {};
}

std::string type_name(const Descriptor& descriptor) {
  switch (descriptor.type) {
    case ValueType::kBoolean:
      return "true or false";
    case ValueType::kInteger:
      return "integer";
    case ValueType::kNumber:
      return "number";
    case ValueType::kText:
      return "string";
    case ValueType::kWord:
      return "word";
    case ValueType::kIntegerList:
      return "array of integers";
    case ValueType::kIntegerMap:
      return "object of integers";
    case ValueType::kNumberMap:
      return "object of numbers";
    case ValueType::kRecordList:
      return "array of objects";
    case ValueType::kObject:
    case ValueType::kPatch:
    case ValueType::kNamed:
      break;
  }
  return "object";
}

std::string range_text(const Descriptor& descriptor) {
  const std::string unit = descriptor.unit.empty() ? "" : ' ' + descriptor.unit;
  switch (descriptor.type) {
    case ValueType::kInteger:
    case ValueType::kIntegerList:
    case ValueType::kIntegerMap: {
      const std::string most = std::to_string(descriptor.most) + unit;
      // A rate of 0 or less is the common slip: say in words what is wrong with it.
      if (descriptor.least == 1) return "greater than 0, at most " + most;
      return std::to_string(descriptor.least) + " to " + most;
    }
    case ValueType::kNumber:
    case ValueType::kNumberMap: {
      const std::string high = format_number(descriptor.high) + unit;
      if (descriptor.above_low) return "greater than " + format_number(descriptor.low) + ", at most " + high;
      return format_number(descriptor.low) + " to " + high;
    }
    case ValueType::kText:
      return "at most " + std::to_string(descriptor.most) + " characters";
    case ValueType::kWord:
      return join_words(descriptor.words);
    default:
      return {};
  }
}

}  // namespace wafervp
