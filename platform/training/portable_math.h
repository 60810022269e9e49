// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace wafervp::training {

/// Functions whose bits are the same on each machine, from additions, multiplications and divisions alone:
/// those of the C library may differ by processor. Within 4 units in the last place.

/// Of any finite number; below -700: 0, above 700: as of 700.
double portable_exp(double x);
/// Of 0 <= x <= 2^20.
double portable_sin(double x);
double portable_cos(double x);

}  // namespace wafervp::training
