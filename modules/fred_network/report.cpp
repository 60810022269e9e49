// SPDX-License-Identifier: Apache-2.0
#include "fred_network/report.h"

#include <algorithm>

namespace wafervp {
namespace {

std::string port_name(unsigned port, const PortNames& names) {
  return port < names.size() ? names[port] : std::to_string(port);
}
std::string list(const std::vector<unsigned>& ports, const PortNames& names) {
  std::string text;
  for (const unsigned port : ports) text += (text.empty() ? "" : ", ") + port_name(port, names);
  return text;
}

std::string ends(const FredFlow& flow, const PortNames& names) {
  return flow.name + ": " + list(flow.inputs, names) + " -> " + list(flow.outputs, names);
}

std::string reason(const FredShape& shape, const Conflict& conflict) {
  const std::string number = std::to_string(conflict.flows.size()) + " flows";
  const std::string there_are = ", and there are " + std::to_string(shape.middles);
  switch (conflict.kind) {
    case Conflict::Kind::kSharedPort:
      return number + " want one port";
    case Conflict::Kind::kOddCycle:
      return number + " in a circle, an odd number, need 3 middle networks" + there_are;
    case Conflict::Kind::kClique:
      return number + ", each of which meets each other, need as many middle networks" + there_are;
    case Conflict::Kind::kCritical:
      return number + " need more middle networks than the " + std::to_string(shape.middles) +
             " that there are";
    case Conflict::Kind::kDeeper:
      return number +
             " fit on the outermost level, but then not inside the middle networks, whichever they take";
    case Conflict::Kind::kUnproven:
      return "no way for " + number + " was found within the budget; there may be one";
  }
  return "";
}

/// Where two flows meet: "R and D 3 (6, 7), D 5 (10, 11) at level 1", with the ports of theirs that lead
/// there.
std::string meetings(std::vector<SharedPart> parts, const PortNames& names) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].ports.empty()) continue;
    std::string kinds = name_of(parts[i].kind);
    for (std::size_t j = i + 1; j < parts.size(); ++j) {
      if (parts[j].index != parts[i].index || parts[j].ports != parts[i].ports) continue;
      kinds += std::string(" and ") + name_of(parts[j].kind);
      parts[j].ports.clear();  // told
    }
    text += (text.empty() ? "" : ", ") + kinds + " " + std::to_string(parts[i].index) + " (" +
            list(parts[i].ports, names) + ")";
  }
  return text + (parts.front().level == 0 ? "" : " at level " + std::to_string(parts.front().level));
}

}  // namespace

std::string describe(const std::vector<FredFlow>& flows, const Routing& routing, const PortNames& names) {
  std::string text;
  for (std::size_t f = 0; f < routing.flows.size(); ++f) {
    const FlowRoute& way = routing.flows[f];
    text += "  " + ends(flows[f], names);
    for (std::size_t level = 0; level < way.middles.size(); ++level) {
      text += (level == 0 ? "; middle networks " : ".") + std::to_string(way.middles[level]);
    }
    if (way.adds > 0) text += "; adds " + std::to_string(way.adds) + " deep";
    if (way.copies > 0) text += "; copies " + std::to_string(way.copies) + " deep";
    text += "\n";
  }
  return text;
}

std::string describe(const FredShape& shape, const std::vector<FredFlow>& flows, const Conflict& conflict,
                     const PortNames& names) {
  std::string text = name_of(shape) + ": " + reason(shape, conflict) + "\n";
  for (const std::size_t flow : conflict.flows) text += "  " + ends(flows[flow], names) + "\n";
  for (auto part = conflict.shared.begin(); part != conflict.shared.end();) {
    text += "  " + flows[part->first].name + " and " + flows[part->second].name + " meet at ";
    if (conflict.kind == Conflict::Kind::kSharedPort) {
      text += part->kind == MicroSwitchKind::kReduce ? "input port " : "output port ";
      text += port_name(part->index, names) + "\n";
      ++part;
      continue;
    }
    const auto next = std::find_if(part, conflict.shared.end(), [&](const SharedPart& other) {
      return other.first != part->first || other.second != part->second;
    });
    text += meetings({part, next}, names) + "\n";
    part = next;
  }
  return text;
}

}  // namespace wafervp
