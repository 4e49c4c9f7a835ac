// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "winze/program/program_text.h"
#include "winze/torch/element.h"

namespace winze {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

std::vector<double> numbers_of(const HostValue& value) {
  const HostTensor& tensor = *value.tensor();
  std::vector<double> numbers(static_cast<std::size_t>(tensor.element_count()) *
                              (is_complex(tensor.dtype) ? 2 : 1));
  read_numbers(tensor.dtype, contiguous_bytes(tensor).data(), numbers);
  return numbers;
}

class InputsTest : public ::testing::Test {
 protected:
  /// A program of these symbols, inputs and nodes that returns %y.
  const ExportedProgram& parse(const std::string& symbols, const std::string& inputs,
                               const std::string& nodes) {
    const std::string text = "program \"m\" torch \"2.13.0\"\n" + symbols + "graph forward(" +
                             inputs + ") {\n" + nodes + "  return output %y\n}\n";
    program.emplace(parse_program(context, text, "test.wz"));
    return *program;
  }
  std::vector<double> first_input(std::uint32_t draw = 0, std::uint64_t seed = 0) {
    const InputGenerator generator(*program, {.seed = seed});
    return numbers_of(generator.generate(draw).values.at(0));
  }
  /// The sizes of one symbol in all choices.
  std::vector<std::int64_t> sizes(const std::string& name) {
    const InputGenerator generator(*program);
    std::vector<std::int64_t> found;
    for (std::uint32_t draw = 0; draw < generator.size_count(); ++draw) {
      for (const auto& [symbol, value] : generator.generate(draw).symbols) {
        if (symbol == name) found.push_back(value);
      }
    }
    return found;
  }
  Context context;
  std::optional<ExportedProgram> program;
};

TEST_F(InputsTest, NumbersAreThoseOfTheSeedAndTheDraw) {
  parse("", "%x: input f32[100]", "  %y = aten.neg.default(%x) : f32[100]\n");
  EXPECT_EQ(first_input(), first_input());
  EXPECT_NE(first_input(0, 0), first_input(0, 1));
  EXPECT_NE(first_input(0), first_input(1));
  // The same on every machine.
  EXPECT_NEAR(first_input()[0], -1.61241, 1e-5);
}

TEST_F(InputsTest, RealNumbersAreAroundZero) {
  parse("", "%x: input f32[10000]", "  %y = aten.neg.default(%x) : f32[10000]\n");
  const std::vector<double> numbers = first_input();
  double sum = 0;
  double squares = 0;
  for (const double number : numbers) sum += number, squares += number * number;
  EXPECT_NEAR(sum / 10000, 0, 0.05);
  EXPECT_NEAR(squares / 10000, 1, 0.05);
}

TEST_F(InputsTest, EveryDtypeCanBeMade) {
  for (const char* dtype : {"f16", "bf16", "f32", "f64", "f8e4m3fn", "f8e5m2", "c64", "c128", "i8",
                            "u8", "i16", "i32", "i64", "u16", "b8"}) {
    parse("", std::string("%x: input ") + dtype + "[64]",
          std::string("  %y = aten.clone.default(%x) : ") + dtype + "[64]\n");
    const std::vector<double> numbers = first_input();
    EXPECT_GT(std::set<double>(numbers.begin(), numbers.end()).size(), 1U) << dtype;
  }
}

TEST_F(InputsTest, IndicesStayInRange) {
  parse("", "%i: input i64[500], %w: input f32[7, 4]",
        "  %y = aten.embedding.default(%w, %i) : f32[500, 4]\n");
  EXPECT_THAT(first_input(), Each(AllOf(Ge(0), Le(6))));
  EXPECT_THAT(first_input(), Contains(6));
  EXPECT_THAT(first_input(), Contains(0));
}

TEST_F(InputsTest, IndicesAreFollowedThroughViewsSumsAndCasts) {
  parse("", "%i: input i32[20, 25], %w: input f32[7, 4]",
        "  %v = aten.view.default(%i, [500]) : i32[500]\n"
        "  %c = aten.to.dtype(%v, i64) : i64[500]\n"
        "  %a = aten.add.Tensor(%c, 2) : i64[500]\n"
        "  %y = aten.index.Tensor(%w, [%a]) : f32[500, 4]\n");
  EXPECT_THAT(first_input(), Each(AllOf(Ge(-2), Le(4))));
}

TEST_F(InputsTest, GatherIsBoundedByTheDimensionThatItIndexes) {
  parse("", "%i: input i64[3, 50], %x: input f32[3, 5]",
        "  %y = aten.gather.default(%x, 1, %i) : f32[3, 50]\n");
  EXPECT_THAT(first_input(), Each(AllOf(Ge(0), Le(4))));
}

TEST_F(InputsTest, BoundsCanBeSizesThatAreDynamic) {
  parse("symbol s0 in [2, 64]\n", "%i: input i64[300], %x: input f32[s0, 4]",
        "  %y = aten.index_select.default(%x, 0, %i) : f32[300, 4]\n");
  const InputGenerator generator(*program);
  for (std::uint32_t draw = 0; draw < generator.size_count(); ++draw) {
    const GeneratedInputs generated = generator.generate(draw);
    const auto size = static_cast<double>(generated.values[1].tensor()->sizes[0]);
    EXPECT_THAT(numbers_of(generated.values[0]), Each(AllOf(Ge(0), Le(size - 1))));
  }
}

TEST_F(InputsTest, PositionsAreFollowedThroughBuffersAndCounts) {
  parse("", "%p: input i64[], %b: buffer \"b\" i64[], %x: input f32[16, 2]",
        "  %c = aten.copy_.default(%b, %p) : i64[]\n"
        "  %r = aten.arange.default(4) : i64[4]\n"
        "  %a = aten.add.Tensor(%r, %b) : i64[4]\n"
        "  %y = aten.index_select.default(%x, 0, %a) : f32[4, 2]\n");
  for (std::uint32_t draw = 0; draw < 8; ++draw)
    EXPECT_THAT(first_input(draw), Each(AllOf(Ge(0), Le(12))));
}

TEST_F(InputsTest, PlacesThatAreWrittenAreDistinct) {
  parse("", "%i: input i64[5], %x: input f32[8, 2], %v: input f32[5, 2]",
        "  %y = aten.index_put.default(%x, [%i], %v) : f32[8, 2]\n");
  const std::vector<double> places = first_input();
  EXPECT_EQ(std::set<double>(places.begin(), places.end()).size(), 5U);
}

TEST_F(InputsTest, BoolsAreBothTrueAndFalse) {
  parse("", "%m: input b8[4, 9]", "  %y = aten.logical_not.default(%m) : b8[4, 9]\n");
  for (std::uint32_t draw = 0; draw < 4; ++draw) {
    EXPECT_THAT(first_input(draw), AllOf(Contains(0), Contains(1)));
    EXPECT_EQ(first_input(draw)[0], 1);  // no row is masked as a whole
    EXPECT_EQ(first_input(draw)[9], 1);
  }
}

TEST_F(InputsTest, IntegersThatServeAsMasksAreZeroAndOne) {
  parse("", "%m: input i64[4, 9]", "  %y = aten.to.dtype(%m, b8) : b8[4, 9]\n");
  EXPECT_THAT(first_input(), AllOf(Each(AllOf(Ge(0), Le(1))), Contains(0), Contains(1)));
}

TEST_F(InputsTest, MasksThatAreAddedHoldZeroAndTheLowestNumber) {
  parse("", "%attention_mask: input f32[2, 8]",
        "  %y = aten.neg.default(%attention_mask) : f32[2, 8]\n");
  EXPECT_THAT(first_input(), AllOf(Contains(0), Contains(-largest_of(ScalarType::float32))));
}

TEST_F(InputsTest, ArgumentsOfRootsArePositive) {
  parse("", "%x: input f32[100]", "  %y = aten.sqrt.default(%x) : f32[100]\n");
  EXPECT_THAT(first_input(), Each(Ge(0)));
}

TEST_F(InputsTest, NumbersReadFromTensorsFitTheirSymbols) {
  parse("symbol u0 in [2, 5]\n", "%n: input i64[]",
        "  %k = aten.item.default(%n) : int = u0\n"
        "  %y = aten.zeros.default([%k]) : f32[u0]\n");
  for (std::uint32_t draw = 0; draw < 10; ++draw)
    EXPECT_THAT(first_input(draw), Each(AllOf(Ge(2), Le(5))));
}

TEST_F(InputsTest, NestedGraphsAreFollowed) {
  parse("", "%i: input i64[50], %w: input f32[3, 4]",
        "  %y = higher_order.wrap_with_set_grad_enabled(False, graph body(%a: f32[3, 4], %b: "
        "i64[50]) {\n"
        "    %e = aten.embedding.default(%a, %b) : f32[50, 4]\n"
        "    return %e\n"
        "  }, %w, %i) : f32[50, 4]\n");
  EXPECT_THAT(first_input(), Each(AllOf(Ge(0), Le(2))));
}

TEST_F(InputsTest, SizesAreBothEndsAndPrimes) {
  parse("symbol s0 in [2, 50]\n", "%x: input f32[s0]", "  %y = aten.neg.default(%x) : f32[s0]\n");
  EXPECT_THAT(sizes("s0"), AllOf(Contains(2), Contains(50), Contains(3)));
}

TEST_F(InputsTest, OneIsTriedWhereItIsAllowed) {
  parse("symbol s0 in [1, 50]\n", "%x: input f32[s0]", "  %y = aten.neg.default(%x) : f32[s0]\n");
  EXPECT_THAT(sizes("s0"), Contains(1));
}

TEST_F(InputsTest, AnUpperEndThatIsNotTriedIsTold) {
  parse("symbol s0 in [2, int_oo]\n", "%x: input f32[s0]",
        "  %y = aten.neg.default(%x) : f32[s0]\n");
  EXPECT_THAT(InputGenerator(*program).generate(0).notes,
              ElementsAre("s0 has no upper bound; the largest tried is 64"));
}

TEST_F(InputsTest, OfManySymbolsAFewAreNamed) {
  std::string symbols;
  std::string inputs;
  for (int index = 0; index < 40; ++index) {
    symbols += fmt::format("symbol s{} in [2, int_oo]\n", index);
    inputs += fmt::format("{}%x{}: input f32[s{}]", index == 0 ? "" : ", ", index, index);
  }
  parse(symbols, inputs, "  %y = aten.neg.default(%x0) : f32[s0]\n");
  const GeneratedInputs generated = InputGenerator(*program).generate(0);
  EXPECT_THAT(generated.notes,
              ElementsAre("s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11 and 28 more have no "
                          "upper bound; the largest tried is 64"));
  EXPECT_THAT(generated.description, EndsWith(", s11=2 and 28 more"));
  EXPECT_EQ(generated.symbols.size(), 40U);
}

TEST_F(InputsTest, ManyUpperEndsAreLoweredUntilTheyFitMemory) {
  std::string symbols;
  std::string inputs;
  for (int index = 0; index < 2'000; ++index) {
    symbols += fmt::format("symbol s{} in [2, 64]\n", index);
    inputs += fmt::format("{}%x{}: input f32[s{}]", index == 0 ? "" : ", ", index, index);
  }
  parse(symbols, inputs, "  %y = aten.neg.default(%x0) : f32[s0]\n");
  const InputGenerator generator(*program, {.max_bytes = 400'000});
  for (std::uint32_t draw = 0; draw < generator.size_count(); ++draw) {
    std::int64_t elements = 0;
    for (const HostValue& value : generator.generate(draw).values)
      elements += value.tensor()->element_count();
    EXPECT_LE(elements, 100'000);
  }
}

TEST_F(InputsTest, AnUpperEndIsLoweredUntilItFitsMemory) {
  parse("symbol s0 in [2, 64]\n", "%x: input f32[s0, s0, s0]",
        "  %y = aten.neg.default(%x) : f32[s0, s0, s0]\n");
  const InputGenerator generator(*program, {.max_bytes = 100'000});
  EXPECT_THAT(generator.generate(0).notes,
              ElementsAre(HasSubstr("s0 may be up to 64; the largest tried is")));
  for (std::uint32_t draw = 0; draw < generator.size_count(); ++draw)
    EXPECT_LE(generator.generate(draw).values[0].tensor()->element_count(), 12'500);
}

TEST_F(InputsTest, DerivedSizesAreConsistent) {
  parse("symbol s0 in [2, 50]\n", "%x: input f32[s0], %z: input f32[2*s0 + 1]",
        "  %y = aten.neg.default(%x) : f32[s0]\n");
  const GeneratedInputs generated = InputGenerator(*program).generate(1);
  EXPECT_EQ(generated.values[1].tensor()->sizes[0], 2 * generated.values[0].tensor()->sizes[0] + 1);
}

TEST_F(InputsTest, GuardsOfTheExportAreKept) {
  parse("symbol s0 in [2, 50]\n", "%x: input f32[s0]", "  %y = aten.neg.default(%x) : f32[s0]\n");
  program->guards_code = {"(L['x'].size()[0] % 4) == 0 and L['x'].size()[0] >= 8"};
  for (const std::int64_t size : sizes("s0")) {
    EXPECT_EQ(size % 4, 0);
    EXPECT_GE(size, 8);
  }
}

TEST_F(InputsTest, SymbolsCanBeFixed) {
  parse("symbol s0 in [2, 50]\n", "%x: input f32[s0]", "  %y = aten.neg.default(%x) : f32[s0]\n");
  const InputGenerator generator(*program, {.symbols = {{"s0", 7}}});
  EXPECT_EQ(generator.size_count(), 1U);
  const GeneratedInputs generated = generator.generate(0);
  EXPECT_EQ(generated.values[0].tensor()->sizes[0], 7);
  EXPECT_EQ(generated.description, "generated with seed 0, draw 0, s0=7");
  const auto error = [&](const SymbolValues& symbols) {
    try {
      const InputGenerator wrong(*program, {.symbols = symbols});
    } catch (const Error& caught) {
      return std::string(caught.what());
    }
    return std::string();
  };
  EXPECT_THAT(error({{"s0", 99}}), HasSubstr("s0=99 is outside the range of s0, which is [2, 50]"));
  EXPECT_THAT(error({{"q", 1}}), HasSubstr("no input's size has the symbol \"q\""));
}

TEST_F(InputsTest, StridesOfTheMetaAreKept) {
  parse("", "%x: input f32[2, 3] strides [1, 2]",
        "  %y = aten.neg.default(%x) : f32[2, 3] strides [1, 2]\n");
  const GeneratedInputs generated = InputGenerator(*program).generate(0);
  EXPECT_THAT(generated.values[0].tensor()->strides, ElementsAre(1, 2));
}

}  // namespace
}  // namespace winze
