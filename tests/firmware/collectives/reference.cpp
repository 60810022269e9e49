// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <algorithm>

namespace wafervp::test {
namespace {

std::uint64_t unit_of(const Collective& collective) {
  const std::uint64_t size = wvp_dtype_bytes(collective.dtype);
  return collective.bytes % size ? 1 : size;
}

Buffer cut(const Buffer& from, Span span) {
  return Buffer(from.begin() + static_cast<std::ptrdiff_t>(span.begin),
                from.begin() + static_cast<std::ptrdiff_t>(span.begin + span.count));
}

void paste(Buffer& to, Span span, const Buffer& values) {
  std::copy(values.begin(), values.end(), to.begin() + static_cast<std::ptrdiff_t>(span.begin));
}

/// values[s+1] + values[s+2] + ... + values[s], from left to right, cyclic.
Buffer ring_sum(std::uint32_t dtype, const std::vector<Buffer>& values, std::size_t s) {
  const std::size_t n = values.size();
  Buffer sum = values[(s + 1) % n];
  for (std::size_t k = 2; k <= n; k++) add_all(dtype, sum.data(), values[(s + k) % n].data(), sum.size());
  return sum;
}

/// Sums over the grid: along the first dimension for its segment `s`, then along the second for `t`.
Buffer grid_sum(const Collective& c, const std::vector<Buffer>& before, Span bytes, bool x_first,
                std::size_t s, std::size_t t) {
  const std::size_t first = x_first ? c.dim_x : c.dim_y, second = x_first ? c.dim_y : c.dim_x;
  std::vector<Buffer> sums;
  for (std::size_t j = 0; j < second; j++) {
    std::vector<Buffer> values;
    for (std::size_t i = 0; i < first; i++) {
      const std::size_t x = x_first ? i : j, y = x_first ? j : i;
      values.push_back(cut(before[y * c.dim_x + x], bytes));
    }
    sums.push_back(ring_sum(c.dtype, values, s));
  }
  return ring_sum(c.dtype, sums, t);
}

Span scaled(Span span, std::uint64_t unit) { return {span.begin * unit, span.count * unit}; }
Span inside(Span outer, Span inner) { return {outer.begin + inner.begin, inner.count}; }

/// The parts of `elements` that go x first and y first.
std::pair<Span, Span> orders(const Collective& c, std::uint64_t elements) {
  const std::uint64_t x = (elements * c.x_first_share + 32768) / 65536;
  return {{0, x}, {x, elements - x}};
}

Buffer hierarchical_all_reduce(const Collective& c, const std::vector<Buffer>& before) {
  Buffer result = before[0];
  const std::uint64_t unit = unit_of(c), elements = c.bytes / unit;
  auto [x_part, y_part] = orders(c, elements);
  if (c.dim_x == 1 || c.dim_y == 1) x_part = {0, elements}, y_part = {elements, 0};
  std::uint64_t chunks = c.chunks;
  for (const Span& part : {x_part, y_part}) {
    if (part.count) chunks = std::min(chunks, part.count);
  }
  for (const bool x_first : {true, false}) {
    const Span part = x_first ? x_part : y_part;
    if (!part.count) continue;
    for (const Span& chunk : even_shares(part.count, chunks)) {
      const auto outer = even_shares(chunk.count, x_first ? c.dim_x : c.dim_y);
      for (std::size_t s = 0; s < outer.size(); s++) {
        const auto inner = even_shares(outer[s].count, x_first ? c.dim_y : c.dim_x);
        for (std::size_t t = 0; t < inner.size(); t++) {
          const Span bytes = scaled(inside(inside(inside(part, chunk), outer[s]), inner[t]), unit);
          paste(result, bytes, grid_sum(c, before, bytes, x_first, s, t));
        }
      }
    }
  }
  return result;
}

/// Chunks of a part of the vector that goes round one way, or of the whole one.
void ring_part(const Collective& c, const std::vector<Buffer>& before, Span part, std::uint64_t chunks,
               Buffer& result) {
  const std::uint64_t unit = unit_of(c);
  for (const Span& chunk : even_shares(part.count, chunks)) {
    const auto segments = even_shares(chunk.count, c.size());
    for (std::size_t s = 0; s < segments.size(); s++) {
      const Span bytes = scaled(inside(inside(part, chunk), segments[s]), unit);
      std::vector<Buffer> values;
      for (const Buffer& buffer : before) values.push_back(cut(buffer, bytes));
      paste(result, bytes, ring_sum(c.dtype, values, s));
    }
  }
}

std::uint64_t at_least_one(std::uint64_t chunks, std::uint64_t most) {
  return std::max<std::uint64_t>(1, std::min(chunks, most));
}

Buffer ring_both_all_reduce(const Collective& c, const std::vector<Buffer>& before) {
  Buffer result = before[0];
  const std::uint64_t elements = c.bytes / unit_of(c), forward = elements > 1 ? (elements + 1) / 2 : elements;
  const std::uint64_t chunks = at_least_one(c.chunks, elements > 1 ? elements - forward : elements);
  ring_part(c, before, {0, forward}, chunks, result);
  const std::vector<Buffer> backward(before.rbegin(), before.rend());
  if (elements > forward) ring_part(c, backward, {forward, elements - forward}, chunks, result);
  return result;
}

/// What member `m` sends up: its own values plus those of its children, from left to right.
Buffer tree_sum(const Collective& c, const std::vector<Buffer>& before, Span bytes,
                const std::vector<std::uint32_t>& parents, std::uint32_t m) {
  Buffer sum = cut(before[m], bytes);
  for (const std::uint32_t child : children(parents, m)) {
    const Buffer part = tree_sum(c, before, bytes, parents, child);
    add_all(c.dtype, sum.data(), part.data(), sum.size());
  }
  return sum;
}

Buffer tree_all_reduce(const Collective& c, const std::vector<Buffer>& before) {
  Buffer result = before[0];
  const std::uint64_t unit = unit_of(c), elements = c.bytes / unit;
  const auto chunks = even_shares(elements, at_least_one(c.chunks * c.trees.size(), elements));
  for (std::size_t i = 0; i < chunks.size(); i++) {
    const auto& parents = c.trees[i % c.trees.size()];
    std::uint32_t root = 0;
    while (parents[root] != root) root++;
    const Span bytes = scaled(chunks[i], unit);
    paste(result, bytes, tree_sum(c, before, bytes, parents, root));
  }
  return result;
}

Buffer flat_all_reduce(const Collective& c, const std::vector<Buffer>& before) {
  Buffer result = before[0];
  const std::uint64_t elements = c.bytes / unit_of(c);
  if (c.algorithm == WVP_ALG_IN_SWITCH) { /* the mock's flows add in the order of the members */
    for (std::size_t i = 1; i < before.size(); i++) {
      add_all(c.dtype, result.data(), before[i].data(), result.size());
    }
    return result;
  }
  ring_part(c, before, {0, elements}, at_least_one(c.chunks, elements), result);
  return result;
}

Buffer own_share(const Collective& c, const std::vector<Buffer>& before, std::size_t rank) {
  Buffer result = before[rank];
  const std::uint64_t unit = unit_of(c);
  const Span share = even_shares(c.bytes / unit, c.size())[rank];
  std::vector<Buffer> values;
  for (const Buffer& buffer : before) values.push_back(cut(buffer, scaled(share, unit)));
  if (c.algorithm == WVP_ALG_RING) {
    paste(result, scaled(share, unit), ring_sum(c.dtype, values, rank));
  } else if (c.algorithm == WVP_ALG_RING_BOTH) {
    const std::uint64_t forward = c.bytes / unit > 1 ? (share.count + 1) / 2 : share.count;
    const std::vector<Buffer> backward(values.rbegin(), values.rend());
    paste(result, scaled(share, unit), ring_sum(c.dtype, values, rank));
    const Span rest{forward * unit, (share.count - forward) * unit};
    paste(result, {share.begin * unit + rest.begin, rest.count},
          cut(ring_sum(c.dtype, backward, c.size() - 1 - rank), rest));
  } else if (c.algorithm == WVP_ALG_IN_SWITCH) {
    for (std::size_t i = 1; i < values.size(); i++) {
      add_all(c.dtype, values[0].data(), values[i].data(), values[0].size());
    }
    paste(result, scaled(share, unit), values[0]);
  } else {
    const auto parts = orders(c, share.count);
    /* A grid of one row or column, and a share that leaves one order empty, know one order only. */
    const auto whole = orders(c, c.bytes / unit);
    const bool only_x = c.dim_x == 1 || c.dim_y == 1 || whole.second.count == 0;
    const bool only_y = !only_x && whole.first.count == 0;
    const std::size_t x = rank % c.dim_x, y = rank / c.dim_x;
    for (const bool x_first : {true, false}) {
      Span part = x_first ? parts.first : parts.second;
      if (only_x) part = x_first ? Span{0, share.count} : Span{0, 0};
      if (only_y) part = x_first ? Span{0, 0} : Span{0, share.count};
      const Span bytes = scaled(inside(share, part), unit);
      paste(result, bytes, grid_sum(c, before, bytes, x_first, x_first ? x : y, x_first ? y : x));
    }
  }
  return result;
}

}  // namespace

std::vector<Span> even_shares(std::uint64_t total, std::uint64_t count) {
  std::vector<Span> shares;
  std::uint64_t begin = 0;
  for (std::uint64_t i = 0; i < count; i++) {
    const std::uint64_t size = total / count + (i < total % count);
    shares.push_back({begin, size});
    begin += size;
  }
  return shares;
}

std::vector<std::uint32_t> children(const std::vector<std::uint32_t>& parents, std::uint32_t member) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < parents.size(); i++) {
    if (parents[i] == member && i != member) found.push_back(i);
  }
  return found;
}

void add_trees(Collective& collective, const std::vector<std::vector<std::uint32_t>>& trees) {
  collective.trees = trees;
  collective.tree_links.assign(collective.size(), {});
  for (std::uint32_t member = 0; member < collective.size(); member++) {
    std::vector<std::uint32_t>& links = collective.tree_links[member];
    links.resize(trees.size());
    for (std::size_t t = 0; t < trees.size(); t++) {
      links[t] = static_cast<std::uint32_t>(links.size());
      const auto below = children(trees[t], member);
      links.push_back(trees[t][member]);
      links.push_back(static_cast<std::uint32_t>(below.size()));
      links.insert(links.end(), below.begin(), below.end());
    }
  }
}

std::vector<Span> byte_shares(const Collective& c) {
  const std::uint64_t unit = unit_of(c);
  auto shares = even_shares(c.bytes / unit, c.size());
  for (Span& share : shares) share = scaled(share, unit);
  return shares;
}

std::vector<Buffer> expected_result(const Collective& c, const std::vector<Buffer>& before) {
  std::vector<Buffer> after = before;
  const auto shares = byte_shares(c);
  switch (c.op) {
    case WVP_OP_ALL_REDUCE: {
      if (c.size() == 1) break;
      const Buffer sum = c.algorithm == WVP_ALG_HIERARCHICAL ? hierarchical_all_reduce(c, before)
                         : c.algorithm == WVP_ALG_RING_BOTH  ? ring_both_all_reduce(c, before)
                         : c.algorithm == WVP_ALG_TREE       ? tree_all_reduce(c, before)
                                                             : flat_all_reduce(c, before);
      std::fill(after.begin(), after.end(), sum);
      break;
    }
    case WVP_OP_REDUCE_SCATTER:
      for (std::size_t i = 0; i < after.size() && after.size() > 1; i++) after[i] = own_share(c, before, i);
      break;
    case WVP_OP_ALL_GATHER:
      for (Buffer& buffer : after) {
        for (std::size_t i = 0; i < before.size(); i++) paste(buffer, shares[i], cut(before[i], shares[i]));
      }
      break;
    case WVP_OP_BROADCAST:
      std::fill(after.begin(), after.end(), before[c.root]);
      break;
    case WVP_OP_ALL_TO_ALL:
      for (std::size_t i = 0; i < after.size(); i++) {
        after[i].clear();
        for (const Buffer& from : before) {
          const Buffer share = cut(from, shares[i]);
          after[i].insert(after[i].end(), share.begin(), share.end());
        }
      }
      break;
    default:
      break;
  }
  return after;
}

}  // namespace wafervp::test
