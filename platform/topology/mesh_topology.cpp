// SPDX-License-Identifier: Apache-2.0
#include "topology/picoseconds.h"
#include "topology/topology_builder.h"

namespace wafervp {

std::uint32_t mesh_io_controllers(const Mesh2dSpec& mesh) { return 2 * (mesh.columns + mesh.rows); }

Topology build_mesh(const WaferSpec& wafer) {
  const Mesh2dSpec& mesh = wafer.fabric.mesh2d;
  TopologyBuilder builder(wafer);
  require(std::uint64_t{mesh.columns} * mesh.rows * builder.topology().sites == wafer.npus, "/wafer/npus",
          "expected columns * rows = " + std::to_string(mesh.columns) + " * " + std::to_string(mesh.rows) +
              " of the mesh" + (builder.topology().sites > 1 ? " of each site" : "") + ", found " +
              std::to_string(wafer.npus));
  const Time latency = ps_of_ns(mesh.link_latency_ns);
  builder.topology().columns = mesh.columns;
  builder.topology().rows = mesh.rows;
  require(wafer.io.controllers == 0 || wafer.io.controllers == mesh_io_controllers(mesh),
          "/wafer/io/controllers",
          "expected 0, or 2 * (columns + rows) = " + std::to_string(mesh_io_controllers(mesh)) +
              ", one for each side of the boundary, found " + std::to_string(wafer.io.controllers));
  builder.add_ends(mesh.columns);
  const auto place = [](std::uint32_t x, std::uint32_t y) {
    return "x" + std::to_string(x) + "y" + std::to_string(y);
  };
  const auto add_mesh = [&](std::uint32_t site) {
    const std::uint32_t first = site * mesh.columns * mesh.rows;
    const std::string at = builder.topology().sites > 1 ? "s" + std::to_string(site) + "." : "";
    const auto connect = [&](std::uint32_t x, std::uint32_t y, std::uint32_t to_x, std::uint32_t to_y) {
      builder.add_link(first + y * mesh.columns + x, first + to_y * mesh.columns + to_x,
                       mesh.link_bytes_per_s, latency, at + place(x, y) + "->" + at + place(to_x, to_y));
    };
    for (std::uint32_t y = 0; y < mesh.rows; ++y) {
      for (std::uint32_t x = 0; x < mesh.columns; ++x) {
        if (x + 1 < mesh.columns) connect(x, y, x + 1, y);
        if (x > 0) connect(x, y, x - 1, y);
        if (y + 1 < mesh.rows) connect(x, y, x, y + 1);
        if (y > 0) connect(x, y, x, y - 1);
      }
    }
  };
  for (std::uint32_t site = 0; site < builder.topology().sites; ++site) add_mesh(site);
  builder.add_site_links();
  if (wafer.io.controllers == 0) return builder.finish();
  std::uint32_t k = 0;
  const auto attach = [&](std::uint32_t x, std::uint32_t y, bool row_first) {
    builder.add_io(k++, NodeId{y * mesh.columns + x}, row_first);
  };
  for (const std::uint32_t x : {0u, mesh.columns - 1}) {
    for (std::uint32_t y = 0; y < mesh.rows; ++y) attach(x, y, true);
  }
  for (const std::uint32_t y : {0u, mesh.rows - 1}) {
    for (std::uint32_t x = 0; x < mesh.columns; ++x) attach(x, y, false);
  }
  return builder.finish();
}

}  // namespace wafervp
