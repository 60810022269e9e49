// SPDX-License-Identifier: Apache-2.0
#include "compression/values.h"

#include <cstring>
#include <type_traits>

namespace wafervp::compression {
namespace {

/// fp64 to fp32 with the last bit set where anything was cut off: rounded again to 22 bits or fewer, it gives
/// what one rounding gives (Boldo and Melquiond 2005).
float float_rounded_to_odd(double value) {
  const auto rounded = static_cast<float>(value);
  if (static_cast<double>(rounded) == value || value != value) return rounded;
  auto bits = bits_as<std::uint32_t>(rounded);
  const bool away = (rounded < 0 ? -static_cast<double>(rounded) : static_cast<double>(rounded)) >
                    (value < 0 ? -value : value);
  if (away) --bits;  // towards zero: also from infinity to the largest finite
  return bits_as<float>(bits | 1u);
}

float near_float(float value) { return value; }
float near_float(double value) { return float_rounded_to_odd(value); }

template <class To, class From, class Convert>
void convert(const From* from, std::byte* to, std::size_t count, Convert convert_one) {
  for (std::size_t i = 0; i < count; ++i) {
    const To value = convert_one(from[i]);
    std::memcpy(to + i * sizeof(To), &value, sizeof(To));
  }
}

template <class From, class To, class Convert>
void convert(const std::byte* from, To* to, std::size_t count, Convert convert_one) {
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    to[i] = static_cast<To>(convert_one(value));
  }
}

template <class T>
void copy(const T* from, T* to, std::size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace

template <class T>
void widen(Element element, const std::byte* from, T* to, std::size_t count) {
  const auto itself = [](auto value) { return value; };
  switch (element) {
    case Element::kFp64:
      if (std::is_same_v<T, double>) return copy(from, reinterpret_cast<std::byte*>(to), count * sizeof(T));
      return convert<double>(from, to, count, itself);
    case Element::kFp32:
      if (std::is_same_v<T, float>) return copy(from, reinterpret_cast<std::byte*>(to), count * sizeof(T));
      return convert<float>(from, to, count, itself);
    case Element::kBf16:
      return convert<std::uint16_t>(from, to, count, float_from_bf16);
    case Element::kFp16:
      return convert<std::uint16_t>(from, to, count, float_from_fp16);
    case Element::kInt32:
      return convert<std::int32_t>(from, to, count, itself);
  }
}

template <class T>
void narrow(Element element, const T* from, std::byte* to, std::size_t count) {
  switch (element) {
    case Element::kFp64:
      if (std::is_same_v<T, double>)
        return copy(reinterpret_cast<const std::byte*>(from), to, count * sizeof(T));
      return convert<double>(from, to, count, [](T value) { return static_cast<double>(value); });
    case Element::kFp32:
      if (std::is_same_v<T, float>)
        return copy(reinterpret_cast<const std::byte*>(from), to, count * sizeof(T));
      return convert<float>(from, to, count, [](T value) { return static_cast<float>(value); });
    case Element::kBf16:
      return convert<std::uint16_t>(from, to, count,
                                    [](T value) { return bf16_from_float(near_float(value)); });
    case Element::kFp16:
      return convert<std::uint16_t>(from, to, count,
                                    [](T value) { return fp16_from_float(near_float(value)); });
    case Element::kInt32:
      return;  // no codec makes integers
  }
}

template void widen(Element, const std::byte*, float*, std::size_t);
template void widen(Element, const std::byte*, double*, std::size_t);
template void narrow(Element, const float*, std::byte*, std::size_t);
template void narrow(Element, const double*, std::byte*, std::size_t);

double largest_finite(Element element) {
  switch (element) {
    case Element::kFp16:
      return 65504;
    case Element::kBf16:
      return 0x1.fep127;
    case Element::kFp32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

std::uint64_t element_bits(Element element, const std::byte* values, std::size_t index) {
  const std::size_t bytes = element_bytes(element);
  std::uint64_t bits = 0;
  std::memcpy(&bits, values + index * bytes, bytes);  // little endian, as x86-64 is
  return bits;
}

bool all_finite(Element element, const std::byte* values, std::size_t count, std::size_t& at) {
  const FloatFormat format = float_format(element);
  const std::uint64_t exponent = ((std::uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
  for (at = 0; at < count; ++at) {
    if ((element_bits(element, values, at) & exponent) == exponent) return false;
  }
  return true;
}

}  // namespace wafervp::compression
