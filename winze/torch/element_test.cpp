// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace winze {
namespace {

double through(ScalarType dtype, double number) {
  std::byte bytes[16] = {};
  write_numbers(dtype, std::span(&number, 1), bytes);
  double read = 0;
  read_numbers(dtype, bytes, std::span(&read, 1));
  return read;
}

constexpr ScalarType real_dtypes[] = {ScalarType::float16,         ScalarType::bfloat16,
                                      ScalarType::float32,         ScalarType::float64,
                                      ScalarType::float8_e5m2,     ScalarType::float8_e4m3fn,
                                      ScalarType::float8_e5m2fnuz, ScalarType::float8_e4m3fnuz};

TEST(Element, EveryPatternOfASmallFloatIsWrittenAsItWasRead) {
  for (const ScalarType dtype : real_dtypes) {
    const std::uint32_t width = element_size(dtype);
    if (width > 2) continue;
    for (std::uint32_t pattern = 0; pattern < 1U << (8 * width); ++pattern) {
      std::byte bytes[2] = {std::byte(pattern & 0xFFU), std::byte(pattern >> 8U)};
      double number = 0;
      read_numbers(dtype, bytes, std::span(&number, 1));
      if (std::isnan(number)) continue;
      std::byte written[2] = {};
      write_numbers(dtype, std::span(&number, 1), written);
      ASSERT_TRUE(written[0] == bytes[0] && (width == 1 || written[1] == bytes[1]))
          << full_name(dtype) << " pattern " << pattern << " is " << number;
    }
  }
}

// Values that torch gives: torch.tensor(x).to(dtype).
TEST(Element, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(through(ScalarType::bfloat16, 1.00390625), 1.0);  // a tie
  EXPECT_EQ(through(ScalarType::bfloat16, 1.01171875), 1.015625);
  EXPECT_EQ(through(ScalarType::float16, 0.1), 0.0999755859375);
  EXPECT_EQ(through(ScalarType::float16, 6e-8), 5.9604644775390625e-08);
  EXPECT_EQ(through(ScalarType::float8_e4m3fn, 0.3), 0.3125);
  EXPECT_EQ(through(ScalarType::float8_e5m2, 0.3), 0.3125);
  EXPECT_EQ(through(ScalarType::float8_e4m3fnuz, -3.3), -3.25);
}

TEST(Element, KnowsTheSpecialPatternsOfSmallFloats) {
  const auto read = [](ScalarType dtype, std::uint8_t pattern) {
    const std::byte byte{pattern};
    double number = 0;
    read_numbers(dtype, &byte, std::span(&number, 1));
    return number;
  };
  EXPECT_TRUE(std::isnan(read(ScalarType::float8_e4m3fn, 0x7F)));
  EXPECT_EQ(read(ScalarType::float8_e4m3fn, 0x7E), 448);
  EXPECT_EQ(read(ScalarType::float8_e5m2, 0x7C), std::numeric_limits<double>::infinity());
  EXPECT_EQ(read(ScalarType::float8_e5m2, 0x7B), 57344);
  EXPECT_TRUE(std::isnan(read(ScalarType::float8_e5m2fnuz, 0x80)));
  EXPECT_EQ(read(ScalarType::float8_e5m2fnuz, 0x7F), 57344);
  EXPECT_EQ(read(ScalarType::float8_e4m3fnuz, 0x7F), 240);
  EXPECT_EQ(read(ScalarType::float8_e8m0fnu, 127), 1);
  EXPECT_TRUE(std::isnan(read(ScalarType::float8_e8m0fnu, 0xFF)));
}

TEST(Element, EpsilonIsThatOfTorchFinfo) {
  EXPECT_EQ(epsilon_of(ScalarType::float32), 0x1p-23);
  EXPECT_EQ(epsilon_of(ScalarType::float16), 0x1p-10);
  EXPECT_EQ(epsilon_of(ScalarType::bfloat16), 0x1p-7);
  EXPECT_EQ(epsilon_of(ScalarType::float8_e4m3fn), 0x1p-3);
  EXPECT_EQ(epsilon_of(ScalarType::complex64), 0x1p-23);
  EXPECT_EQ(epsilon_of(ScalarType::int32), 0);
}

TEST(Element, UlpIsTheDistanceToTheNextNumber) {
  for (const float number : {1.0F, 1.5F, 3e30F, 1e-38F, 1e-44F}) {
    const float next = std::nextafter(number, std::numeric_limits<float>::infinity());
    EXPECT_EQ(ulp_of(ScalarType::float32, number), static_cast<double>(next) - number) << number;
  }
  EXPECT_EQ(ulp_of(ScalarType::bfloat16, 1.0), 0x1p-7);
}

TEST(Element, ReadsAndWritesIntegersOfEveryWidth) {
  for (const ScalarType dtype :
       {ScalarType::int8, ScalarType::int16, ScalarType::int32, ScalarType::int64}) {
    EXPECT_EQ(through(dtype, -7), -7) << full_name(dtype);
  }
  for (const ScalarType dtype :
       {ScalarType::uint8, ScalarType::uint16, ScalarType::uint32, ScalarType::uint64}) {
    EXPECT_EQ(through(dtype, 200), 200) << full_name(dtype);
  }
  EXPECT_EQ(through(ScalarType::bool_, 1), 1);
}

}  // namespace
}  // namespace winze
