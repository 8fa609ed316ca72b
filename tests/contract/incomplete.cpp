// The errors of the incomplete gamma and beta functions, and nextafter bit by bit.
#include <bit>
#include <cmath>
#include <limits>

#include "contract/quad.hpp"
#include "contract/registry.hpp"

namespace tern::contract {
namespace {

class Incomplete : public test::EveryDevice {};

/// P or Q by the series or by Lentz's continued fraction, whichever suits.
Quad incomplete_gamma(Quad a, Quad x, bool upper) {
  const Quad prefix = expq(a * logq(x) - x - lgammaq(a + 1));
  if (x < a + 1) {
    Quad term = 1, sum = 1;
    for (int n = 1; n < 200000 && term > sum * 1e-33Q; ++n) term *= x / (a + n), sum += term;
    return upper ? 1 - prefix * sum : prefix * sum;
  }
  Quad b = x + 1 - a, c = 1e4000Q, d = 1 / b, h = d;
  for (int i = 1; i < 200000; ++i) {
    const Quad by = -i * (i - a);
    b += 2, d = 1 / (by * d + b), c = b + by / c, h *= d * c;
    if (fabsq(d * c - 1) < 1e-33Q) break;
  }
  return upper ? prefix * a * h : 1 - prefix * a * h;
}

template <class S> void check_gamma(Device device) {
  std::vector<S> a, x;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const double at = std::exp(std::log(1e-3) + std::log(1e9) * random_unit(3 * i)), u = random_unit(3 * i + 1);
    double to = i % 2 ? at + 12 * std::sqrt(at) * (u - 0.5) : at * std::exp(6 * (u - 0.5));
    if (to <= 0) to = at * random_unit(3 * i + 2);
    a.push_back(static_cast<S>(at)), x.push_back(static_cast<S>(to));
  }
  const Tensor ta = tensor(a, Shape{a.size()}, device), tx = tensor(x, Shape{x.size()}, device);
  const std::vector<S> got[] = {gammainc(ta, tx).template to_vector<S>(), gammaincc(ta, tx).template to_vector<S>()};
  const double times = device.kind() == DeviceKind::cpu ? 1 : device.kind() == DeviceKind::cuda ? 2 : 3;
  for (const bool upper : {false, true}) {
    Report report(std::string(upper ? "gammaincc " : "gammainc ") + std::string(to_string(dtype_of<S>)) + " on " +
                  device.to_string());
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Quad want = incomplete_gamma(a[i], x[i], upper);
      if (want < static_cast<Quad>(std::numeric_limits<S>::min()) * 1024) continue;
      const bool of_one = upper && x[i] < std::max(a[i], S(1));
      const double off = static_cast<double>(fabsq(got[upper][i] - want) / (of_one ? 1 : want)) /
                         std::numeric_limits<S>::epsilon(),
                   bound = 12 * times * (1 - static_cast<double>(logq(want)));
      worst = std::max(worst, off / bound);
      if (!(off <= bound))
        report.add([&] { return hex(a[i]) + ", " + hex(x[i]) + ": off by " + std::to_string(off) + " eps"; });
    }
    if (std::getenv("TERN_TEST_SHOW_ERRORS")) std::printf("%s: %.2f of the bound\n", upper ? "Q" : "P", worst);
  }
}
TEST_P(Incomplete, GammaIsWithinItsBound) {
  check_gamma<float>(device());
  try {
    check_gamma<double>(device());
  } catch (const UnsupportedDType&) {
  }
}

/// a, b, x and I_x(a, b) to 20 digits (mpmath 1.3, in 40).
constexpr double kBeta[][4] = {
    {3.094911575317383, 1.153001308441162, 0.3699551522731781, 0.057356985794420771882},
    {1.286379337310791, 3.384991407394409, 0.7141295075416565, 0.97774372325572360308},
    {43.62407302856445, 6.878483772277832, 0.9289456009864807, 0.93364164540815618904},
    {48.471046447753906, 868.6325073242188, 0.042313314974308014, 0.069008752677548321081},
    {3.2741751670837402, 0.25623026490211487, 0.5997627973556519, 0.034538425135062734392},
    {0.48450735211372375, 1.4964821338653564, 0.6034526824951172, 0.88123953624238949867},
    {2.5554561614990234, 0.24305957555770874, 0.6760203242301941, 0.080892503509144335448},
    {2.011765241622925, 0.2746270000934601, 0.7072593569755554, 0.14672427677946452625},
    {2.95896577835083, 0.4903261959552765, 0.8072264194488525, 0.2746441928314863151},
    {195.01611328125, 92.64363098144531, 0.2220907360315323, 2.2163422037194202003e-61},
    {206.3921661376953, 239.5537567138672, 0.575935423374176, 0.99999919930371144164},
    {0.21869568526744843, 0.37747710943222046, 0.5346370339393616, 0.65689768478481446614},
    {0.0001877970207715407, 0.01872869022190571, 0.06841668486595154, 0.98959230299389500872},
    {858.0214233398438, 0.19117380678653717, 0.997210681438446, 0.0073836746753229406285},
    {0.5316952466964722, 1.8742812871932983, 0.07158099859952927, 0.35479370032510092403},
    {0.2852933704853058, 0.005266547203063965, 0.1435183584690094, 0.010799276111641204819},
    {29.018434524536133, 0.05052422359585762, 0.982241153717041, 0.028302663182195080286},
    {0.0176909901201725, 13.759132385253906, 0.16062049567699432, 0.99942720274663804218},
    {4.731505032395944e-05, 0.04019242152571678, 0.0006885858601890504, 0.99848320656560141515},
    {0.3411107063293457, 0.712816596031189, 0.834611713886261, 0.88130702974786692434},
    {48.40983200073242, 0.028349854052066803, 0.9866033792495728, 0.01197945362008819607},
    {0.033836595714092255, 0.6480109691619873, 0.021292168647050858, 0.85539100947079242998},
    {175.73233032226562, 0.11456061154603958, 0.6758871674537659, 4.2431250061358447822e-33},
    {0.6471578478813171, 6.099674224853516, 0.0853612869977951, 0.60537055074098812584},
    {1.5280500650405884, 1.148947834968567, 0.7396386861801147, 0.68654009447155913438},
    {27.70325469970703, 0.07147276401519775, 0.9714150428771973, 0.023930056640429966667},
    {0.20962201058864594, 0.04255388677120209, 0.250150591135025, 0.13395085780515678298},
    {21.908000946044922, 0.12426157295703888, 0.9998928904533386, 0.50111962716493756246},
    {65.55244445800781, 0.1534532904624939, 0.8705107569694519, 2.8118053949625966298e-6},
    {0.08695404976606369, 0.9908363819122314, 0.6992779970169067, 0.96881057586790539155},
    {0.0002445545978844166, 0.6544269919395447, 0.19529953598976135, 0.99942798010343811874},
    {0.004263134673237801, 0.23969170451164246, 0.016872674226760864, 0.96701346301936567615},
    {0.6816257834434509, 0.3477937579154968, 0.4518473744392395, 0.28612712177447631218},
    {191.73756408691406, 106.00341033935547, 0.03421181067824364, 6.2226100259336058891e-201},
    {0.14980880916118622, 0.20841138064861298, 0.3013693392276764, 0.52495476504322924736},
    {118.04536437988281, 24.954374313354492, 0.7623797059059143, 0.030090709583288694177},
    {3.0748116970062256, 4.499722480773926, 0.220081627368927, 0.14387633484859225106},
    {7.122195720672607, 169.90318298339844, 0.024264562875032425, 0.12719672895396753288},
    {4.338294506072998, 0.7801017165184021, 0.6484101414680481, 0.10826460203710910994},
    {190.3092041015625, 117.24788665771484, 0.4841907024383545, 1.0490688093911092206e-6},
    {4.366979598999023, 0.5042692422866821, 0.10336165130138397, 0.000013803168130386353098},
    {146.3157958984375, 60.2738151550293, 0.8071380257606506, 0.99964758096507612434},
    {650.3114013671875, 0.001624582801014185, 0.9997634291648865, 0.0023437724746493066206},
    {0.004435477312654257, 5.795768737792969, 0.03759133815765381, 0.99463913177078930944},
    {0.09474749863147736, 0.030546393245458603, 0.18294937908649445, 0.21200929111721361578},
    {913.8004760742188, 387.2177734375, 0.719473659992218, 0.9124911990399300042},
    {3.409604787826538, 0.3582928478717804, 0.3833032250404358, 0.0084745563377926960382},
    {0.0025014556013047695, 1.195495843887329, 0.09187691658735275, 0.99470204883482152365},
    {190.54920959472656, 0.03294049948453903, 0.9928165674209595, 0.0041720883457006366232},
    {0.0032269051298499107, 841.5964965820312, 5.034884225096903e-07, 0.97705664169639414153},
    {0.181536003947258, 0.21422262489795685, 0.3453707695007324, 0.49288378785422110209},
    {5.810934817418456e-05, 159.03656005859375, 0.4092917740345001, 1.0},
    {661.5822143554688, 1.0922623872756958, 0.995961606502533, 0.081011441820635051991},
    {0.15639089047908783, 4.495141506195068, 0.45290303230285645, 0.99481390703850366308},
    {31.56627655029297, 0.4818273186683655, 0.8674727082252502, 0.0026627608159259274407},
    {5.419336957857013e-06, 0.08392023295164108, 1.9042905705646263e-06, 0.99986475917206773429},
    {0.500582754611969, 0.05936219170689583, 0.3140312135219574, 0.068990492429735378533},
    {144.1684112548828, 14.687745094299316, 0.9917778372764587, 0.99999999998579018002},
    {2.713207721710205, 0.42235806584358215, 0.4687783122062683, 0.04212230097357996613},
    {11.970356941223145, 11.383110046386719, 0.8018436431884766, 0.99900450948582168259},
    {0.0693274512887001, 0.29353612661361694, 0.8514438271522522, 0.8840548870013803991},
    {0.09345749765634537, 2.2436752319335938, 0.3942340910434723, 0.97436598417439728108},
    {0.00042822773684747517, 9.956223487854004, 0.3388720452785492, 0.9999982194580522468},
    {880.5963134765625, 2.0678107738494873, 0.9938077926635742, 0.029952887553494805457},
    {0.6047722101211548, 0.6917914748191833, 0.10960397124290466, 0.20383953412904418608},
    {0.09050299972295761, 0.33683139085769653, 0.06607770174741745, 0.64299591522056815794},
    {0.06437551975250244, 1.9254987239837646, 0.7505179047584534, 0.99709089740204638113},
    {0.2758536636829376, 0.30543795228004456, 0.0465911328792572, 0.25052350279083859019},
    {2.6674157197703607e-05, 763.5801391601562, 1.945785879797768e-05, 0.99990271112755081686},
    {3.6394543647766113, 4.9047465324401855, 0.6111454367637634, 0.86332029519071186726},
    {145.2424774169922, 24.074941635131836, 0.3453060984611511, 7.6580790091355053135e-44},
    {7.199006080627441, 4.057250499725342, 0.9067113399505615, 0.99006109088977011227},
};
template <class S> void check_beta(Device device) {
  std::vector<S> a, b, x;
  for (const auto& row : kBeta)
    a.push_back(static_cast<S>(row[0])), b.push_back(static_cast<S>(row[1])), x.push_back(static_cast<S>(row[2]));
  const auto made = [&](const std::vector<S>& v) { return tensor(v, Shape{v.size()}, device); };
  const std::vector<S> got = betainc(made(a), made(b), made(x)).template to_vector<S>();
  const double times = device.kind() == DeviceKind::cpu ? 1 : device.kind() == DeviceKind::cuda ? 2 : 3;
  Report report("betainc " + std::string(to_string(dtype_of<S>)) + " on " + device.to_string());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double p = kBeta[i][0], q = kBeta[i][1], want = kBeta[i][3];
    if (want < static_cast<double>(std::numeric_limits<S>::min()) * 1024) continue;
    const double size = kBeta[i][2] * (p + q + 2) < p + 1 ? want : 1;
    const double bound = times * (16 * (1 - std::log(want)) + 8 * (p + q)) * std::numeric_limits<S>::epsilon() * size;
    if (!(std::fabs(got[i] - want) <= bound))
      report.add([&] {
        return hex(p) + ", " + hex(q) + ", " + hex(kBeta[i][2]) + " got " + hex(got[i]) + ", want " + hex(want);
      });
  }
}
TEST_P(Incomplete, BetaIsWithinItsBound) {
  check_beta<float>(device());
  try {
    check_beta<double>(device());
  } catch (const UnsupportedDType&) {
  }
}

TEST_P(Incomplete, EdgesAreTheLimits) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor a = tensor({0.5f, 1.0f, 30.0f, 30.0f, -1.0f, 0.0f, 1.0f, inf});
  const Tensor x = tensor({0.0f, inf, 0.0f, inf, 1.0f, 1.0f, -1.0f, 1.0f});
  const std::vector<float> p = gammainc(a, x).to_vector<float>(), q = gammaincc(a, x).to_vector<float>();
  const float want[] = {0, 1, 0, 1};
  for (std::size_t i = 0; i < p.size(); ++i)
    if (i < 4) EXPECT_TRUE(p[i] == want[i] && q[i] == 1 - want[i]) << i;
    else EXPECT_TRUE(std::isnan(p[i]) && std::isnan(q[i])) << i;
  const std::vector<float> beta =
      betainc(tensor({2.0f, 2.0f, 2.0f, 0.0f, 2.0f, 0.5f}), tensor({3.0f, 3.0f, 3.0f, 1.0f, 2000.0f, 0.5f}),
              tensor({0.0f, 1.0f, 1.5f, 0.5f, 0.5f, 0.5f}))
          .to_vector<float>();
  EXPECT_EQ(beta[0], 0);
  EXPECT_EQ(beta[1], 1);
  EXPECT_NEAR(beta[5], 0.5, 1e-6);
  for (std::size_t i = 2; i < 5; ++i) EXPECT_TRUE(std::isnan(beta[i])) << i;
}
TEST_P(Incomplete, FarBeyondItsParameterGammaIsOne) {
  for (const float a : {1.0f, 50.0f, 1e6f})
    for (const float x : {1e7f, 1e13f, 1e30f, 3e38f}) {
      const Var at(tensor({a}));
      const Var p = gammainc(at, tensor({x}));
      EXPECT_EQ(p.item<float>(), 1) << a << ", " << x;
      EXPECT_EQ(gammaincc(tensor({a}), tensor({x})).item<float>(), 0) << a << ", " << x;
      EXPECT_EQ(backward(p)[at].to_vector<float>()[0], 0) << a << ", " << x;
    }
}

/// All numbers of 16 bits, and many of the others, as std::nextafter has them.
template <class S, class Bits> void check_next(Device device, bool subnormal) {
  std::vector<S> x, y;
  for (std::uint64_t i = 0; i < 60000; ++i) {
    const std::uint64_t r = random_bits(i), t = random_bits(i + 1000000);
    x.push_back(std::bit_cast<S>(static_cast<Bits>(i % 50 ? r : r & 7))),
        y.push_back(std::bit_cast<S>(static_cast<Bits>(t)));
    if (i % 3 == 0) y.back() = 0;
  }
  x.push_back(std::numeric_limits<S>::infinity()), y.push_back(0);
  x.push_back(std::numeric_limits<S>::max()), y.push_back(std::numeric_limits<S>::infinity());
  x.push_back(-S(0)), y.push_back(1);
  const std::vector<S> got =
      nextafter(tensor(x, Shape{x.size()}, device), tensor(y, Shape{y.size()}, device)).template to_vector<S>();
  Report report("nextafter " + std::string(to_string(dtype_of<S>)) + " on " + device.to_string());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const S want = std::nextafter(x[i], y[i]);
    if (!subnormal && std::fabs(x[i]) < std::numeric_limits<S>::min() * 0x1p30) continue;
    if (!subnormal && y[i] != 0 && std::fabs(y[i]) < std::numeric_limits<S>::min()) continue;
    if (std::bit_cast<Bits>(want) != std::bit_cast<Bits>(got[i]) && !(want != want && got[i] != got[i]))
      report.add([&] { return hex(x[i]) + ", " + hex(y[i]) + " got " + hex(got[i]) + ", want " + hex(want); });
  }
}
template <class S> void check_next_of_halves(Device device) {
  std::vector<S> x, y;
  for (std::uint32_t i = 0; i < 65536; ++i)
    for (const float to : {-INFINITY, INFINITY})
      x.push_back(std::bit_cast<S>(static_cast<std::uint16_t>(i))), y.push_back(S(to));
  const std::vector<S> got =
      nextafter(tensor(x, Shape{x.size()}, device), tensor(y, Shape{y.size()}, device)).template to_vector<S>();
  const int infinity = S(INFINITY).bits;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const int bits = x[i].bits, magnitude = bits & 0x7fff, up = i % 2;
    if (magnitude > infinity) continue;
    const bool negative = bits >> 15, ends = magnitude == infinity && negative != up;
    const int want = ends ? bits : magnitude == 0 ? (up ? 1 : 0x8001) : negative != up ? bits + 1 : bits - 1;
    ASSERT_EQ(got[i].bits, want) << "of the bits " << bits << (up ? " up" : " down");
  }
}
TEST_P(Incomplete, NextafterIsTheNeighbour) {
  const bool webgpu = device().kind() == DeviceKind::webgpu;
  check_next<float, std::uint32_t>(device(), !webgpu);
  if (webgpu) return;
  check_next<double, std::uint64_t>(device(), true);
  check_next_of_halves<float16>(device());
  check_next_of_halves<bfloat16>(device());
}

INSTANTIATE_TEST_SUITE_P(Special, Incomplete, testing::ValuesIn(test::present_devices()), test::device_name);

}  // namespace
}  // namespace tern::contract
