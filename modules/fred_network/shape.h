// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace wafervp {

/// Fred_m(P), a switch of P ports in and P ports out (arXiv 2406.19580, switch construction): Clos-like
/// (m, n = 2, r), where pairs of ports share an input and an output μswitch and m middle networks of half the
/// ports, rounded up, join them. Where P is odd the last port goes straight to any middle network.
struct FredShape {
  unsigned ports = 0;    ///< P, 2 or more
  unsigned middles = 0;  ///< m, 2 or more

  friend bool operator==(const FredShape& a, const FredShape& b) {
    return a.ports == b.ports && a.middles == b.middles;
  }
  friend bool operator!=(const FredShape& a, const FredShape& b) { return !(a == b); }
  friend bool operator<(const FredShape& a, const FredShape& b) {
    return a.middles != b.middles ? a.middles < b.middles : a.ports < b.ports;
  }
};

/// Throws std::invalid_argument when there are fewer than two ports or middle networks.
void check(const FredShape& shape);

/// Ports of each middle network of a network of `ports` ports.
constexpr unsigned middle_ports(unsigned ports) { return (ports + 1) / 2; }

/// Levels of input μswitches around the innermost ones: the number of middle networks that a flow is given.
unsigned levels(const FredShape& shape);

/// "Fred3(12)".
std::string name_of(const FredShape& shape);

}  // namespace wafervp
