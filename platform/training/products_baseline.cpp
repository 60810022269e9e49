// SPDX-License-Identifier: Apache-2.0
#include "training/products_kernel.h"

namespace wafervp::training {

void run_baseline(const Product<double>& product) { run<double, 16>(product); }
void run_baseline(const Product<float>& product) { run<float, 16>(product); }

}  // namespace wafervp::training
