// SPDX-License-Identifier: Apache-2.0
#include "core/register_block.h"

#include <cstdio>

namespace wafervp {

namespace {

std::string hex(std::uint32_t value, int digits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%0*x", digits, value);
  return text;
}

const char* access_name(RegisterInfo::Access access) {
  return access == RegisterInfo::Access::RO ? "RO" : access == RegisterInfo::Access::WO ? "WO" : "RW";
}

/// A bar would end the table's cell.
std::string cell(const char* text) {
  std::string result;
  for (; *text != 0; ++text) {
    if (*text == '|') result += '\\';
    result += *text;
  }
  return result;
}

std::uint32_t distance(std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; }

}  // namespace

const RegisterInfo* RegisterMap::find(std::uint32_t offset) const {
  for (const RegisterInfo& info : *this) {
    if (info.offset == offset) return &info;
  }
  return nullptr;
}

std::string RegisterMap::reason(std::uint32_t offset, RegisterInfo::Access forbidden) const {
  const RegisterInfo* exact = find(offset);
  if (exact != nullptr && exact->access == forbidden) {
    return std::string(exact->name) + " is " + (forbidden == RegisterInfo::Access::RO ? "read" : "write") +
           "-only";
  }
  const RegisterInfo* nearest = registers_;
  for (const RegisterInfo& info : *this) {
    if (distance(info.offset, offset) < distance(nearest->offset, offset)) nearest = &info;
  }
  const std::string start = offset % 4 != 0 ? "the address is not a multiple of 4" : "no register there";
  return start + "; nearest is " + nearest->name + " at " + hex(nearest->offset, 3);
}

void RegisterMap::refuse_read(const std::string& owner, std::uint32_t offset) const {
  throw BusError(owner + ": bus error, read of offset " + hex(offset, 3) + ": " +
                 reason(offset, RegisterInfo::Access::WO));
}

void RegisterMap::refuse_write(const std::string& owner, std::uint32_t offset, std::uint32_t value) const {
  throw BusError(owner + ": bus error, write of " + hex(value, 8) + " to offset " + hex(offset, 3) + ": " +
                 reason(offset, RegisterInfo::Access::RO));
}

std::string RegisterMap::markdown() const {
  std::string table = "| register | offset | access | reset | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const RegisterInfo& info : *this) {
    table += std::string("| ") + info.name + " | " + hex(info.offset, 3) + " | " + access_name(info.access) +
             " | " + hex(info.reset, 8) + " | " + cell(info.text) + " |\n";
  }
  return table;
}

}  // namespace wafervp
