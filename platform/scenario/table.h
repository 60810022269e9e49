// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scenario/descriptors.h"
#include "scenario/words.h"

namespace wafervp {

/// Parts of the tables.
void describe_head(std::vector<Descriptor>& table);
void describe_wafer(std::vector<Descriptor>& table);
void describe_flow_control(std::vector<Descriptor>& table);
void describe_compression(std::vector<Descriptor>& table);
void describe_functional_training(std::vector<Descriptor>& table);
void describe_sites(std::vector<Descriptor>& table);
void describe_workload(std::vector<Descriptor>& table);
void describe_run(std::vector<Descriptor>& table);
void describe_study(std::vector<Descriptor>& table);

/// Adds the descriptors of members of `Root`. `ref` gives the field: a lambda from Root& to Field&.
/// A default of null leaves it to the caller to set `required` or `default_note`.
template <class Root>
class Table {
 public:
  explicit Table(std::vector<Descriptor>& table) : table_(table) {}

  Descriptor& object(const char* pointer, const char* documentation) {
    return add(pointer, ValueType::kObject, "", Json(), documentation);
  }
  template <class Ref>
  Descriptor& boolean(const char* pointer, bool value, const char* documentation, Ref ref) {
    return bind(add(pointer, ValueType::kBoolean, "", value, documentation), ref);
  }
  template <class Ref>
  Descriptor& integer(const char* pointer, const char* unit, Json value, std::uint64_t least,
                      std::uint64_t most, const char* documentation, Ref ref) {
    Descriptor& descriptor =
        bind(add(pointer, ValueType::kInteger, unit, std::move(value), documentation), ref);
    descriptor.least = least;
    descriptor.most = most;
    return descriptor;
  }
  template <class Ref>
  Descriptor& number(const char* pointer, const char* unit, Json value, double low, double high,
                     const char* documentation, Ref ref) {
    Descriptor& descriptor =
        bind(add(pointer, ValueType::kNumber, unit, std::move(value), documentation), ref);
    descriptor.low = low;
    descriptor.high = high;
    return descriptor;
  }
  template <class Ref>
  Descriptor& text(const char* pointer, Json value, std::uint64_t most, const char* documentation, Ref ref) {
    Descriptor& descriptor = bind(add(pointer, ValueType::kText, "", std::move(value), documentation), ref);
    descriptor.most = most;
    return descriptor;
  }
  /// A word that is kept as text.
  template <class Ref>
  Descriptor& name(const char* pointer, Json value, std::vector<std::string> words, const char* documentation,
                   Ref ref) {
    Descriptor& descriptor = bind(add(pointer, ValueType::kWord, "", std::move(value), documentation), ref);
    descriptor.words = std::move(words);
    return descriptor;
  }
  /// A word that stands for an enumeration's value; `only` restricts the words, empty: all.
  template <class Ref>
  Descriptor& word(const char* pointer, Json value, const char* documentation, Ref ref,
                   std::vector<std::string> only = {}) {
    using Enum = std::decay_t<decltype(ref(std::declval<Root&>()))>;
    Descriptor& descriptor = add(pointer, ValueType::kWord, "", std::move(value), documentation);
    descriptor.words = std::move(only);
    if (descriptor.words.empty()) {
      for (const auto& item : words_of<Enum>()) descriptor.words.emplace_back(item.first);
    }
    descriptor.set = [ref](void* root, const Json& json) {
      for (const auto& [text, known] : words_of<Enum>()) {
        if (json.get_ref<const std::string&>() == text) ref(*static_cast<Root*>(root)) = known;
      }
    };
    descriptor.get = [ref](const void* root) { return Json(to_word(ref(mutable_root(root)))); };
    return descriptor;
  }
  template <class Ref>
  Descriptor& list(const char* pointer, const char* unit, std::uint64_t most, const char* documentation,
                   Ref ref) {
    Descriptor& descriptor =
        bind(add(pointer, ValueType::kIntegerList, unit, Json::array(), documentation), ref);
    descriptor.most = most;
    descriptor.max_items = 65536;
    return descriptor;
  }
  template <class Ref>
  Descriptor& integer_map(const char* pointer, KeyKind key, const char* unit, std::uint64_t least,
                          std::uint64_t most, const char* documentation, Ref ref) {
    Descriptor& descriptor =
        bind(add(pointer, ValueType::kIntegerMap, unit, Json::object(), documentation), ref);
    descriptor.key = key;
    descriptor.least = least;
    descriptor.most = most;
    descriptor.max_items = 65536;
    return descriptor;
  }
  template <class Ref>
  Descriptor& number_map(const char* pointer, KeyKind key, const char* unit, double low, double high,
                         const char* documentation, Ref ref) {
    Descriptor& descriptor =
        bind(add(pointer, ValueType::kNumberMap, unit, Json::object(), documentation), ref);
    descriptor.key = key;
    descriptor.low = low;
    descriptor.high = high;
    descriptor.max_items = 65536;
    return descriptor;
  }
  /// A list of records; `describe` fills the table of one record's members.
  template <class Record, class Ref, class Describe>
  Descriptor& records(const char* pointer, std::size_t most, const char* documentation, Ref ref,
                      Describe describe) {
    Descriptor& descriptor = add(pointer, ValueType::kRecordList, "", Json::array(), documentation);
    descriptor.max_items = most;
    describe(Table<Record>(descriptor.members));
    const auto members = std::make_shared<const std::vector<Descriptor>>(descriptor.members);
    descriptor.set = [ref, members](void* root, const Json& json) {
      auto& list = ref(*static_cast<Root*>(root));
      list.clear();
      for (const Json& item : json) {
        Record record{};
        for (const Descriptor& member : *members) {
          const auto found = item.find(member.pointer.substr(1));
          member.set(&record, found == item.end() ? member.default_value : *found);
        }
        list.push_back(std::move(record));
      }
    };
    descriptor.get = [ref, members](const void* root) {
      Json list = Json::array();
      for (const Record& record : ref(mutable_root(root))) {
        Json item = Json::object();
        for (const Descriptor& member : *members) item[member.pointer.substr(1)] = member.get(&record);
        list.push_back(std::move(item));
      }
      return list;
    };
    return descriptor;
  }
  /// A member that the table only names; it has no field here.
  Descriptor& add(const char* pointer, ValueType type, const char* unit, Json value,
                  const char* documentation) {
    Descriptor descriptor;
    descriptor.pointer = pointer;
    descriptor.type = type;
    descriptor.unit = unit;
    descriptor.default_value = std::move(value);
    descriptor.documentation = documentation;
    table_.push_back(std::move(descriptor));
    return table_.back();
  }

 private:
  static Root& mutable_root(const void* root) { return *const_cast<Root*>(static_cast<const Root*>(root)); }

  template <class Ref>
  Descriptor& bind(Descriptor& descriptor, Ref ref) {
    using Field = std::decay_t<decltype(ref(std::declval<Root&>()))>;
    descriptor.set = [ref](void* root, const Json& json) {
      ref(*static_cast<Root*>(root)) = json.template get<Field>();
    };
    descriptor.get = [ref](const void* root) { return Json(ref(mutable_root(root))); };
    return descriptor;
  }

  std::vector<Descriptor>& table_;
};

}  // namespace wafervp
