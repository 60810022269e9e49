// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenario/reader.h"

namespace wafervp {

/// Merges `patch` onto `target` (RFC 7386: objects merge, null removes, all else replaces). Each member
/// keeps its origin.
void merge_onto(Document& target, const Document& patch);
/// The part of a document at `pointer`, as a document of its own whose origins still say where it stands.
Document part_of(const Document& document, const std::string& pointer);
/// Puts `part` at `pointer` of `target`, replacing what is there; missing objects on the way are made.
/// False when a value that is no object (or no such place of an array) is in the way.
bool put_at(Document& target, const std::string& pointer, const Document& part);
/// Takes a member away, with its origins.
void remove_member(Document& target, const std::string& name);
/// The value at `pointer`, or null pointer.
const Json* find_value(const Json& root, const std::string& pointer);

}  // namespace wafervp
