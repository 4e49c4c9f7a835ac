// SPDX-License-Identifier: Apache-2.0
#include "winze/support/python_repr.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

namespace winze {
namespace {

TEST(PythonFloat, IsWhatPythonPrints) {
  // Each pair comes from Python's float.hex and repr.
  const std::pair<double, const char*> cases[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {0x1.0000000000000p+0, "1.0"},
      {-0x1.0000000000000p+0, "-1.0"},
      {0x1.999999999999ap-4, "0.1"},
      {0x1.c6bf526340000p+49, "1000000000000000.0"},
      {0x1.1c37937e08000p+53, "1e+16"},
      {0x1.b69b4ba630f35p+56, "1.2345678901234568e+17"},
      {0x1.1c37937e07fffp+53, "9999999999999998.0"},
      {0x1.a36e2eb1c432dp-14, "0.0001"},
      {0x1.02c9dedbc309dp-13, "0.0001234"},
      {0x1.4f8b588e368f1p-17, "1e-05"},
      {0x1.f75104d551d69p-17, "1.5e-05"},
      {0x0.0000000000001p-1022, "5e-324"},
      {0x1.fffffffffffffp+1023, "1.7976931348623157e+308"},
      {0x1.0000000000000p-1022, "2.2250738585072014e-308"},
      {0x1.921fb54442d18p+1, "3.141592653589793"},
      {0x1.0f0cf064dd592p+73, "1e+22"},
      {0x1.52d02c7e14af6p+76, "1e+23"},
      {0x1.9000000000000p+6, "100.0"},
      {0x1.e240c9fbe76c9p+16, "123456.789"},
      {0x1.5555555555555p-2, "0.3333333333333333"},
      {0x1.0000000000001p+0, "1.0000000000000002"},
      {0x1.1666666666666p+2, "4.35"},
      {0x1.0000000000000p+53, "9007199254740992.0"},
      {0x1.0000000000000p+60, "1.152921504606847e+18"},
      {0x1.b1ae4d6e2ef50p+69, "1e+21"},
      {-0x1.fffffe0000000p+127, "-3.4028234663852886e+38"},
      {-0x1.7584a2265b1f5p-740, "-2.522753946247637e-223"},
      {-0x1.13e30d8f16adfp+215, "-5.674664918136216e+64"},
      {0x1.7c4d1c386bbc4p-765, "7.654927133881691e-231"},
      {0x1.feb89414c343cp-541, "2.7715077941825975e-163"},
      {-0x1.e6f447ed4d57bp+45, "-66926478731690.96"},
      {0x1.510617311d8a3p+911, "2.2790121708605243e+274"},
      {0x1.e7696a6cecc1bp+531, "1.3383932992236106e+160"},
      {0x1.f992dc9e9c616p-164, "8.445496795513092e-50"},
      {0x1.42c8218072e8cp+975, "4.026380313612261e+293"},
      {-0x1.06ce60741c7a8p+588, "-1.039999246087972e+177"},
      {0x1.a828dd5f4b3b2p+573, "5.122439992692798e+172"},
      {-0x1.10e766ec9d286p-583, "-3.367304008780077e-176"},
      {-0x1.47159c324c985p+71, "-3.0168212434893705e+21"},
      {-0x1.21a58008a05a6p-221, "-3.3573703852372156e-67"},
      {0x1.e3d437204e52dp+67, "2.7890840981819507e+20"},
      {-0x1.47e35b8b6d8fep+213, "-1.6860668391509668e+64"},
      {-0x1.5d4c13a902931p-650, "-2.9205048131065683e-196"},
      {0x1.b8f1ff1fd42a2p-605, "1.2971714304409807e-182"},
      {0x1.31193e6c3f339p+277, "2.8940701966505206e+83"},
      {0x1.6e6e307d4bedcp-932, "3.942716995897388e-281"},
      {-0x1.8a7dd06839eb9p-411, "-2.9138649815953417e-124"},
      {0x1.b413f8a9a021ep-986, "2.60464476415712e-297"},
      {-0x1.88ad9f06c144ap+538, "-1.380176098350245e+162"},
      {-0x1.d67f9619699cfp-260, "-9.920174193947555e-79"},
      {-0x1.30c4237730edfp+898, "-2.5157234196648135e+270"},
      {-0x1.179e06c0fd4f5p-98, "-3.44654920223904e-30"},
      {-0x1.2b8bc076f3787p-910, "-1.3518464599291115e-274"},
      {-0x1.1e88f38c0c8fdp+57, "-1.6130484589462314e+17"},
      {-0x1.d3fef701966a0p+775, "-3.632860948069635e+233"},
      {-0x1.8348a7eed8d14p-807, "-1.772486265902276e-243"},
      {0x1.fd2803bab6c39p+392, "2.0061779959619276e+118"},
      {-0x1.5f23d3b1a11dfp-299, "-1.3467022099658464e-90"},
      {-0x1.19380defe1ac2p+9, "-562.4379253246227"},
      {-0x1.432c1a27c16c0p+6, "-80.79306852453283"},
      {-0x1.a46fd0365f938p+8, "-420.4367708190289"},
      {-0x1.de82a2acfa3e1p+9, "-957.0205894681823"},
      {0x1.5193f63688a26p+9, "675.1559513251457"},
      {0x1.c3a273ea30450p+6, "112.90864530486692"},
      {0x1.1c96b6bd00044p+8, "284.5887258648911"},
      {-0x1.3a17fef554b51p+9, "-628.1874682105646"},
      {0x1.ec8b1d0f7472ap+9, "985.0868243521302"},
      {0x1.67f24fb60c7e0p+9, "719.8930575905797"},
      {-0x1.7b1c2b981b4e9p+9, "-758.2200803883871"},
      {-0x1.4e9c10aa1b2cep+8, "-334.60962927974185"},
      {0x1.baf8044550250p+8, "442.96881516653684"},
      {0x1.a6622fa3332e0p+8, "422.38353939055924"},
      {0x1.b470ca4be6ba8p+9, "872.8811735989193"},
      {-0x1.37926e9a24318p+7, "-155.78600007716955"},
      {0x1.4a092331c5ec0p+9, "660.0713865486541"},
      {0x1.549c73337661cp+8, "340.611132828142"},
      {-0x1.89435288f5cd0p+8, "-393.26297813416477"},
      {0x1.5e528a6ab9c70p+7, "175.16121228711881"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(python_float(value), text);
}

TEST(PythonFloat, NamesWhatIsNoNumber) {
  EXPECT_EQ(python_float(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(python_float(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(python_float(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(python_float(-std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(PythonString, ChoosesItsQuotes) {
  EXPECT_EQ(python_string("abc"), "'abc'");
  EXPECT_EQ(python_string(""), "''");
  EXPECT_EQ(python_string("it's"), "\"it's\"");
  EXPECT_EQ(python_string("\"it's\""), "'\"it\\'s\"'");
  EXPECT_EQ(python_string("say \"x\""), "'say \"x\"'");
}

TEST(PythonString, EscapesWhatPythonDoesNotPrint) {
  EXPECT_EQ(python_string("\\\n\r\t"), R"('\\\n\r\t')");
  EXPECT_EQ(python_string(std::string_view("\0\x1f\x7f", 3)), R"('\x00\x1f\x7f')");
  EXPECT_EQ(python_string("\u0080\u00a0\u00ad\u00e4"), "'\\x80\\xa0\\xad\u00e4'");
  EXPECT_EQ(python_string("\u2028\u3000\u20ac\ue000"), "'\\u2028\\u3000\u20ac\\ue000'");
  EXPECT_EQ(python_string("\U0001F600\U000E0001\U0010FFFF"), "'\U0001F600\\U000e0001\\U0010ffff'");
}

TEST(PythonString, ShowsOtherBytesAsSurrogates) {
  EXPECT_EQ(python_string("a\xff\xc3"), R"('a\udcff\udcc3')");
}

}  // namespace
}  // namespace winze
