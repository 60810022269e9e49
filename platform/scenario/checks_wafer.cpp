// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "scenario/checks.h"
#include "scenario/text.h"
#include "scenario/words.h"

namespace wafervp {
namespace {

std::string sides_text(const char* first, std::uint64_t a, const char* second, std::uint64_t b,
                       std::uint64_t npus) {
  // The most square pair of sides.
  std::uint64_t side = 1;
  for (std::uint64_t i = 1; i * i <= npus; ++i) {
    if (npus % i == 0) side = i;
  }
  return std::string(first) + ' ' + std::to_string(a) + " * " + second + ' ' + std::to_string(b) + " = " +
         std::to_string(a * b) + ", but /wafer/npus is " + std::to_string(npus) + "; sides that give " +
         std::to_string(npus) + ": " + std::to_string(npus / side) + " and " + std::to_string(side);
}

bool take_number(std::string_view& text, std::uint64_t& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || (text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9')) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view head) {
  if (text.substr(0, head.size()) != head) return false;
  text.remove_prefix(head.size());
  return true;
}

/// An end of a link by its name. `npu` counts NPUs, `l1` L1 switches, `hub` is the switch or L2, `site`
/// sites.
struct End {
  enum Kind { kNone, kNpu, kPlace, kL1, kHub, kSite } kind = kNone;
  std::uint64_t index = 0, x = 0, y = 0;
  std::uint64_t site = 0;  // of a place
};

End parse_end(std::string_view text) {
  End end;
  std::string_view rest = text;
  if (take(rest, "s") && take_number(rest, end.site) && take(rest, ".")) {
    text = rest;
  } else {
    end.site = 0;
  }
  rest = text;
  if (text == "switch" || text == "l2") {
    end.kind = End::kHub;
  } else if (take(rest, "npu") && take_number(rest, end.index) && rest.empty()) {
    end.kind = End::kNpu;
  } else if (rest = text; take(rest, "l1_") && take_number(rest, end.index) && rest.empty()) {
    end.kind = End::kL1;
  } else if (rest = text; take(rest, "site") && take_number(rest, end.index) && rest.empty()) {
    end.kind = End::kSite;
  } else if (rest = text; take(rest, "x") && take_number(rest, end.x) && take(rest, "y") &&
                          take_number(rest, end.y) && rest.empty()) {
    end.kind = End::kPlace;
  }
  return end;
}

std::string upto(std::uint64_t count) { return "0.." + std::to_string(count - 1); }

std::string outside(const End& end, const Scenario& scenario) {
  const FabricSpec& fabric = scenario.wafer.fabric;
  if (end.kind == End::kNpu && end.index >= scenario.wafer.npus) {
    return "npu" + std::to_string(end.index) + " does not exist; allowed " + upto(scenario.wafer.npus);
  }
  const std::uint32_t sites = scenario.wafer.sites.count;
  if (end.kind == End::kSite && end.index >= sites) {
    return "site" + std::to_string(end.index) + " does not exist; allowed " + upto(sites);
  }
  if (end.site >= sites) return "s" + std::to_string(end.site) + " does not exist; allowed " + upto(sites);
  if (end.kind == End::kL1 && end.index >= fabric.fred.l1_switches) {
    return "l1_" + std::to_string(end.index) + " does not exist; allowed " + upto(fabric.fred.l1_switches);
  }
  if (end.kind == End::kPlace && (end.x >= fabric.mesh2d.columns || end.y >= fabric.mesh2d.rows)) {
    return "x" + std::to_string(end.x) + "y" + std::to_string(end.y) + " does not exist; allowed x " +
           upto(fabric.mesh2d.columns) + ", y " + upto(fabric.mesh2d.rows);
  }
  return {};
}

bool same(const End& a, const End& b) {
  return a.kind == b.kind && a.index == b.index && a.x == b.x && a.y == b.y && a.site == b.site;
}

bool joined(const End& a, const End& b, const Scenario& scenario) {
  const auto near = [](std::uint64_t p, std::uint64_t q) { return p + 1 == q || q + 1 == p; };
  if (a.kind == End::kSite || b.kind == End::kSite) return a.kind == b.kind && scenario.wafer.sites.count > 1;
  if (a.site != b.site) return false;
  const std::uint64_t npus = scenario.wafer.npus / scenario.wafer.sites.count;  // of a site
  switch (scenario.wafer.fabric.kind) {
    case FabricKind::kRing:
      return a.kind == End::kNpu && b.kind == End::kNpu && a.index / npus == b.index / npus &&
             ((a.index + 1) % npus == b.index % npus || (b.index + 1) % npus == a.index % npus);
    case FabricKind::kSwitch:
      return (a.kind == End::kNpu && b.kind == End::kHub) || (a.kind == End::kHub && b.kind == End::kNpu);
    case FabricKind::kMesh2d:
      return a.kind == End::kPlace && b.kind == End::kPlace &&
             ((a.y == b.y && near(a.x, b.x)) || (a.x == b.x && near(a.y, b.y)));
    case FabricKind::kFred: {
      const std::uint64_t per_l1 = scenario.wafer.fabric.fred.npus_per_l1;
      const auto is_below = [&](const End& low, const End& high) {
        return (low.kind == End::kNpu && high.kind == End::kL1 && low.index / per_l1 == high.index) ||
               (low.kind == End::kL1 && high.kind == End::kHub);
      };
      return is_below(a, b) || is_below(b, a);
    }
  }
  return false;
}

const char* link_names(FabricKind kind) {
  switch (kind) {
    case FabricKind::kRing:
      return "npu0->npu1";
    case FabricKind::kSwitch:
      return "npu0->switch or switch->npu0";
    case FabricKind::kMesh2d:
      return "x0y0->x1y0";
    case FabricKind::kFred:
      return "npu0->l1_0, l1_0->l2, l2->l1_0 or l1_0->npu0";
  }
  return "";
}

}  // namespace

void Checks::warn(const std::string& pointer, std::string text) {
  if (warnings_ != nullptr) warnings_->push_back(make_issue(document_, pointer, std::move(text)));
}

std::string Checks::fabric_refusal(const Scenario& scenario, Algorithm algorithm) {
  const FabricSpec& fabric = scenario.wafer.fabric;
  if (algorithm == Algorithm::kInSwitch && (fabric.kind != FabricKind::kFred || !fabric.fred.in_network)) {
    return "in_switch needs a fabric of kind fred with in_network true, found kind " +
           std::string(to_word(fabric.kind)) +
           (fabric.kind == FabricKind::kFred ? " with /wafer/fabric/fred/in_network false" : "");
  }
  if (algorithm == Algorithm::kHierarchical && fabric.kind != FabricKind::kFred &&
      fabric.kind != FabricKind::kMesh2d && scenario.wafer.sites.count == 1) {
    return "hierarchical needs a fabric with two dimensions (mesh2d, fred, or several sites), found kind " +
           std::string(to_word(fabric.kind));
  }
  return {};
}

void Checks::fabric(const Scenario& scenario) {
  const FabricSpec& spec = scenario.wafer.fabric;
  if (!validator_.sound({"/wafer/npus", "/wafer/fabric/kind", "/wafer/sites"})) return;
  sites(scenario);
  if (!validator_.sound({"/wafer/sites"})) return;
  const std::uint32_t npus = scenario.wafer.npus / scenario.wafer.sites.count;  // of a site
  if (spec.kind == FabricKind::kMesh2d &&
      validator_.sound({"/wafer/fabric/mesh2d/columns", "/wafer/fabric/mesh2d/rows"})) {
    if (std::uint64_t{spec.mesh2d.columns} * spec.mesh2d.rows != npus) {
      validator_.fault("/wafer/fabric/mesh2d",
                       sides_text("columns", spec.mesh2d.columns, "rows", spec.mesh2d.rows, npus) +
                           " (NPUs that are missing from a row cannot be described yet)");
    }
  }
  if (spec.kind == FabricKind::kFred &&
      validator_.sound({"/wafer/fabric/fred/l1_switches", "/wafer/fabric/fred/npus_per_l1"})) {
    if (std::uint64_t{spec.fred.l1_switches} * spec.fred.npus_per_l1 != npus) {
      validator_.fault("/wafer/fabric/fred", sides_text("l1_switches", spec.fred.l1_switches, "npus_per_l1",
                                                        spec.fred.npus_per_l1, npus));
    }
  }
  if (validator_.sound({"/wafer/fabric/flow_control", "/wafer/fabric/errors"})) errors(scenario);
  fred_levels(scenario);
  io(scenario);
  if (validator_.sound({"/wafer/fabric/mesh2d", "/wafer/fabric/fred", "/wafer/fabric/link_rates"})) {
    link_rates(scenario);
  }
}

void Checks::errors(const Scenario& scenario) {
  const ErrorSpec& errors = scenario.wafer.fabric.errors;
  for (std::size_t i = 0; i < errors.script.size(); ++i) {
    if (errors.script[i].link.rfind("site", 0) != 0) continue;
    validator_.fault("/wafer/fabric/errors/script/" + std::to_string(i) + "/link",
                     "site links have no errors of their own; their transport is reliable");
  }
  if (scenario.wafer.fabric.flow_control.retransmission == Retransmission::kGoBackN) return;
  const std::string needs =
      "needs /wafer/fabric/flow_control/retransmission go_back_n, or what is lost never comes; found "
      "off";
  if (errors.bit_error_rate > 0) validator_.fault("/wafer/fabric/errors/bit_error_rate", needs);
  if (!errors.script.empty()) validator_.fault("/wafer/fabric/errors/script", needs);
}

void Checks::fred_levels(const Scenario& scenario) {
  const FredSpec& fred = scenario.wafer.fabric.fred;
  const std::string pointer = "/wafer/fabric/fred/upper_children";
  if (scenario.wafer.fabric.kind != FabricKind::kFred || fred.upper_children.empty() ||
      !validator_.sound({pointer.c_str(), "/wafer/fabric/fred/l1_switches"})) {
    return;
  }
  std::uint64_t product = 1;
  for (const std::uint32_t children : fred.upper_children) {
    product = std::min<std::uint64_t>(product * children, std::uint64_t{1} << 32);
  }
  if (product == fred.l1_switches) return;
  validator_.fault(pointer,
                   "the numbers of children give " + std::to_string(product) +
                       ", but /wafer/fabric/fred/l1_switches is " + std::to_string(fred.l1_switches) +
                       "; their product is that of all L1 switches, so that the last level is one switch");
}

void Checks::io(const Scenario& scenario) {
  const FabricSpec& fabric = scenario.wafer.fabric;
  const std::uint64_t found = scenario.wafer.io.controllers;
  if (found == 0 || !validator_.sound({"/wafer/io/controllers"})) return;
  if (fabric.kind == FabricKind::kMesh2d) {
    const std::uint64_t sides = 2 * (std::uint64_t{fabric.mesh2d.columns} + fabric.mesh2d.rows);
    if (found == sides) return;
    validator_.fault("/wafer/io/controllers", "found " + std::to_string(found) +
                                                  "; a mesh has one for each side of its boundary, 2 * (" +
                                                  std::to_string(fabric.mesh2d.columns) + " + " +
                                                  std::to_string(fabric.mesh2d.rows) +
                                                  ") = " + std::to_string(sides) + ", or none");
  } else if (fabric.kind != FabricKind::kFred) {
    validator_.fault("/wafer/io/controllers",
                     "I/O controllers need a fabric of kind mesh2d or fred, found kind " +
                         std::string(to_word(fabric.kind)));
  }
}

void Checks::sites(const Scenario& scenario) {
  const SitesSpec& sites = scenario.wafer.sites;
  const FabricKind kind = scenario.wafer.fabric.kind;
  const std::uint32_t npus = scenario.wafer.npus;
  if (sites.count == 1) return;
  if (npus % sites.count != 0) {
    validator_.fault("/wafer/sites/count", "found " + std::to_string(sites.count) +
                                               "; it must divide /wafer/npus, " + std::to_string(npus) +
                                               ", for sites are alike");
    return;
  }
  if (kind != FabricKind::kRing && kind != FabricKind::kMesh2d) {
    validator_.fault("/wafer/sites/count",
                     "found " + std::to_string(sites.count) +
                         "; needs /wafer/fabric/kind mesh2d, or ring (single NPUs are rings of one), found " +
                         std::string(to_word(kind)) + ": sites of it are not there yet");
  }
  if (sites.gateway >= npus / sites.count) {
    validator_.fault("/wafer/sites/gateway", "found " + std::to_string(sites.gateway) + "; a site has NPUs " +
                                                 upto(npus / sites.count));
  }
  if (scenario.workload.placement.kind == PlacementKind::kSearched &&
      validator_.sound({"/workload/placement/kind"})) {
    validator_.fault("/workload/placement/kind", "placement on several sites is not searched yet");
  }
  if (scenario.wafer.io.controllers != 0) {
    validator_.fault("/wafer/io/controllers", "I/O controllers on several sites are not there yet");
  }
  if (sites.jitter == JitterKind::kNone && sites.jitter_ns > 0) {
    warn("/wafer/sites/jitter_ns", "has no effect: /wafer/sites/jitter is none");
  }
}

void Checks::link_rates(const Scenario& scenario) {
  for (const auto& item : scenario.wafer.fabric.link_rates) {
    const std::string& name = item.first;
    const std::string pointer = "/wafer/fabric/link_rates/" + pointer_token(name);
    const std::size_t arrow = name.find("->");
    const std::string_view text = name;
    const bool has_arrow = arrow != std::string::npos;
    const End from = has_arrow ? parse_end(text.substr(0, arrow)) : End();
    const End to = has_arrow ? parse_end(text.substr(arrow + 2)) : End();
    if (from.kind == End::kNone || to.kind == End::kNone) {
      validator_.fault(pointer, "found " + quote(name) + "; expected a link such as " +
                                    link_names(scenario.wafer.fabric.kind));
      continue;
    }
    const std::string gone = outside(from, scenario);
    const std::string gone_too = outside(to, scenario);
    if (!gone.empty() || !gone_too.empty()) {
      validator_.fault(pointer, gone.empty() ? gone_too : gone);
    } else if (same(from, to)) {
      validator_.fault(
          pointer, "link joins " + std::string(from.kind == End::kNpu ? "NPU " : "") +
                       name.substr(from.kind == End::kNpu ? 3 : 0, arrow - (from.kind == End::kNpu ? 3 : 0)) +
                       " to itself");
    } else if (!joined(from, to, scenario)) {
      validator_.fault(pointer, "no link of a " + std::string(to_word(scenario.wafer.fabric.kind)) +
                                    " joins these two; links have names such as " +
                                    link_names(scenario.wafer.fabric.kind));
    }
  }
}

void Checks::firmware(const Scenario& scenario) {
  if (!validator_.sound({"/wafer/fabric/kind", "/wafer/fabric/fred/in_network"})) return;
  const FirmwareSpec& spec = scenario.wafer.firmware;
  const std::pair<const char*, Algorithm> chosen[] = {{"all_reduce", spec.all_reduce},
                                                      {"reduce_scatter", spec.reduce_scatter},
                                                      {"all_gather", spec.all_gather},
                                                      {"broadcast", spec.broadcast},
                                                      {"all_to_all", spec.all_to_all}};
  for (const auto& [name, algorithm] : chosen) {
    const std::string pointer = std::string("/wafer/firmware/") + name;
    const std::string refusal = fabric_refusal(scenario, algorithm);
    if (!refusal.empty() && validator_.sound({pointer.c_str()})) validator_.fault(pointer, refusal);
  }
}

bool Checks::npu_list(const Scenario& scenario, const std::vector<std::uint32_t>& npus,
                      const std::string& pointer, const char* what) {
  bool good = true;
  std::unordered_map<std::uint32_t, std::size_t> seen;
  for (std::size_t i = 0; i < npus.size(); ++i) {
    const std::string at = pointer + '/' + std::to_string(i);
    if (npus[i] >= scenario.wafer.npus) {
      validator_.fault(
          at, "found " + std::to_string(npus[i]) + "; the wafer has NPUs " + upto(scenario.wafer.npus));
      good = false;
      continue;
    }
    const auto [first, is_new] = seen.emplace(npus[i], i);
    if (!is_new) {
      validator_.fault(at, std::string(what) + ' ' + std::to_string(npus[i]) + " is already at index " +
                               std::to_string(first->second));
      good = false;
    }
  }
  return good;
}

}  // namespace wafervp
