// SPDX-License-Identifier: Apache-2.0
#include "training/products_kernel.h"

namespace wafervp::training {

void run_avx2(const Product<double>& product) { run<double, 32>(product); }
void run_avx2(const Product<float>& product) { run<float, 32>(product); }

}  // namespace wafervp::training
