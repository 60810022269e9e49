// SPDX-License-Identifier: Apache-2.0
#include "scenario/merge.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "scenario/text.h"

namespace wafervp {
namespace {

bool is_inside(const std::string& pointer, const std::string& root) {
  return pointer.compare(0, root.size(), root) == 0 &&
         (pointer.size() == root.size() || pointer[root.size()] == '/');
}

/// Calls `use` with each origin at or below `root`.
template <class Origins, class Use>
void for_each_inside(Origins& origins, const std::string& root, Use use) {
  for (auto it = origins.lower_bound(root); it != origins.end(); ++it) {
    if (it->first.compare(0, root.size(), root) != 0) return;
    if (is_inside(it->first, root)) use(*it);
  }
}

void erase_inside(std::map<std::string, Origin>& origins, const std::string& root) {
  for (auto it = origins.lower_bound(root); it != origins.end();) {
    if (it->first.compare(0, root.size(), root) != 0) return;
    it = is_inside(it->first, root) ? origins.erase(it) : std::next(it);
  }
}

/// Adds the sources of `from` to `target`; the result gives the new index of each.
std::vector<std::uint32_t> add_sources(Document& target, const std::vector<Source>& from) {
  std::vector<std::uint32_t> index;
  for (const Source& source : from) {
    const auto same = [&](const Source& other) {
      return other.file == source.file && other.prefix == source.prefix && other.strip == source.strip &&
             other.rank == source.rank;
    };
    const auto known = std::find_if(target.sources.begin(), target.sources.end(), same);
    index.push_back(static_cast<std::uint32_t>(known - target.sources.begin()));
    if (known == target.sources.end()) target.sources.push_back(source);
  }
  return index;
}

class Merger {
 public:
  Merger(Document& target, const Document& patch)
      : target_(target), patch_(patch), sources_(add_sources(target, patch.sources)) {}

  void merge(Json& value, const Json& patch, const std::string& pointer) {
    if (!patch.is_object()) {
      erase_inside(target_.origins, pointer);
      value = patch;
      for_each_inside(patch_.origins, pointer,
                      [&](const auto& item) { take_origin(item.first, item.second); });
      return;
    }
    if (!value.is_object()) {
      erase_inside(target_.origins, pointer);
      value = Json::object();
      take_origin_of(pointer);
    }
    for (const auto& [name, member] : patch.items()) {
      const std::string inner = pointer + '/' + pointer_token(name);
      if (member.is_null()) {
        erase_inside(target_.origins, inner);
        value.erase(name);
      } else {
        if (!value.contains(name)) take_origin_of(inner);
        merge(value[name], member, inner);
      }
    }
  }

 private:
  void take_origin(const std::string& pointer, const Origin& origin) {
    Origin& place = target_.origins[pointer];
    place = origin;
    place.source = sources_[origin.source];
  }
  void take_origin_of(const std::string& pointer) {
    const auto it = patch_.origins.find(pointer);
    if (it != patch_.origins.end()) take_origin(pointer, it->second);
  }

  Document& target_;
  const Document& patch_;
  std::vector<std::uint32_t> sources_;
};

}  // namespace

void merge_onto(Document& target, const Document& patch) {
  Merger merger(target, patch);
  merger.merge(target.value, patch.value, "");
}

Document part_of(const Document& document, const std::string& pointer) {
  Document part;
  if (const Json* value = find_value(document.value, pointer)) part.value = *value;
  part.sources = document.sources;
  for (Source& source : part.sources) source.prefix += pointer;
  for_each_inside(document.origins, pointer, [&](const auto& item) {
    part.origins.emplace(item.first.substr(pointer.size()), item.second);
  });
  return part;
}

bool put_at(Document& target, const std::string& pointer, const Document& part) {
  Document moved;
  moved.sources = part.sources;
  for (Source& source : moved.sources) source.strip = pointer;
  const std::vector<std::uint32_t> index = add_sources(target, moved.sources);
  const auto root = part.origins.find("");
  const auto note = [&](const std::string& place, const Origin& origin) {
    Origin& noted = target.origins[place];
    noted = origin;
    noted.source = index[origin.source];
  };

  Json* value = &target.value;
  std::string place;
  for (const std::string& name : pointer_names(pointer)) {
    if (value->is_null()) *value = Json::object();
    place += '/' + pointer_token(name);
    if (value->is_array()) {
      const bool is_index =
          !name.empty() && name.size() < 9 && name.find_first_not_of("0123456789") == std::string::npos;
      if (!is_index || std::stoul(name) >= value->size()) return false;
      value = &(*value)[std::stoul(name)];
    } else if (value->is_object()) {
      if (!value->contains(name) && root != part.origins.end()) note(place, root->second);
      value = &(*value)[name];
    } else {
      return false;
    }
  }
  erase_inside(target.origins, pointer);
  *value = part.value;
  for (const auto& [inner, origin] : part.origins) note(pointer + inner, origin);
  return true;
}

void remove_member(Document& target, const std::string& name) {
  target.value.erase(name);
  erase_inside(target.origins, '/' + pointer_token(name));
}

const Json* find_value(const Json& root, const std::string& pointer) {
  const Json* value = &root;
  for (const std::string& name : pointer_names(pointer)) {
    if (value->is_object()) {
      const auto it = value->find(name);
      if (it == value->end()) return nullptr;
      value = &*it;
    } else if (value->is_array()) {
      const bool is_index =
          !name.empty() && name.size() < 9 && name.find_first_not_of("0123456789") == std::string::npos;
      if (!is_index || std::stoul(name) >= value->size()) return nullptr;
      value = &(*value)[std::stoul(name)];
    } else {
      return nullptr;
    }
  }
  return value;
}

}  // namespace wafervp
