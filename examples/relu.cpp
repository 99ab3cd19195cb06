// Runs relu through hone's runtime library on whatever device there is and checks the result. Tunes nothing.
//
//   relu [DATABASE [DEVICE [NUMEL]]]        without them: HONE_DB or the user's database, the best device,
//   1048576
#include <cstdlib>
#include <exception>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "hone/hone.hpp"

namespace {

std::vector<float> random_numbers(std::size_t count) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = distribution(generator);
  return numbers;
}

int run(const hone::OpenOptions& options, std::int64_t numel) {
  hone::Runtime runtime = hone::Runtime::open(options);
  const hone::Problem problem = runtime.family("relu").problem(hone::ElementType::f32, {numel});

  const std::vector<float> in = random_numbers(static_cast<std::size_t>(numel));
  std::vector<float> out(in.size());
  const std::size_t bytes = in.size() * sizeof(float);
  hone::Memory x = runtime.allocate(bytes);
  hone::Memory y = runtime.allocate(bytes);
  x.write(in.data(), bytes);

  const hone::Pick pick = runtime.run(problem, {x.data(), y.data()});
  runtime.synchronize();
  y.read(out.data(), bytes);

  std::cout << "device         " << runtime.device() << "\nrung           " << hone::name(pick.rung())
            << "\nconfiguration  " << pick.configuration() << "\ndatabase       " << pick.database() << '\n';
  if (pick.statistics().n > 0)
    std::cout << "measured       " << pick.statistics().median / 1000 << " us, spread "
              << pick.statistics().spread() / 1000 << " us, on the problem that was tuned\n";
  for (std::size_t i = 0; i < in.size(); ++i) {
    const float wanted = in[i] < 0 ? 0.0F : in[i];
    if (out[i] == wanted) continue;
    std::cerr << "element " << i << " is " << out[i] << " and should be " << wanted << '\n';
    return EXIT_FAILURE;
  }
  std::cout << "checked        " << in.size() << " elements are right\n";
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** words) {
  try {
    hone::OpenOptions options;
    if (count > 1) options.databases.emplace_back(words[1]);
    if (count > 2) options.device = words[2];
    return run(options, count > 3 ? std::stoll(words[3]) : 1 << 20);
  } catch (const std::exception& error) {
    std::cerr << "relu: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
