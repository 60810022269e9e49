// SPDX-License-Identifier: Apache-2.0
#include "training/products.h"

#include <vector>

#include "training/products_kernel.h"

namespace wafervp::training {
namespace {

bool has_avx2() {
  static const bool kAnswer = __builtin_cpu_supports("avx2") != 0;
  return kAnswer;
}

template <class T>
Product<T> product_of(View<const T> a, View<const T> b, View<T> c, Into into) {
  static thread_local std::vector<T> panel;
  if (panel.size() < a.columns * kPanelBytes / sizeof(T)) panel.resize(a.columns * kPanelBytes / sizeof(T));
  return {a.data,
          b.data,
          c.data,
          panel.data(),
          a.rows,
          b.columns,
          a.columns,
          a.row_stride,
          a.column_stride,
          b.row_stride,
          b.column_stride,
          c.row_stride,
          into == Into::kAdd};
}

template <class T>
void choose(const Product<T>& product) {
  has_avx2() ? run_avx2(product) : run_baseline(product);
}

}  // namespace

void multiply(View<const double> a, View<const double> b, View<double> c, Into into) {
  choose(product_of(a, b, c, into));
}
void multiply(View<const float> a, View<const float> b, View<float> c, Into into) {
  choose(product_of(a, b, c, into));
}
void multiply_baseline(View<const double> a, View<const double> b, View<double> c, Into into) {
  run_baseline(product_of(a, b, c, into));
}
void multiply_baseline(View<const float> a, View<const float> b, View<float> c, Into into) {
  run_baseline(product_of(a, b, c, into));
}

}  // namespace wafervp::training
