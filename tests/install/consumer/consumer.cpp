// Runs relu from the database named by the first word, on the host; without exceptions where it can fail.
#include <hone/hone.hpp>
#include <iostream>

int main(int count, char** words) {
  if (count != 2) return 2;
  hone::OpenOptions options;
  options.databases = {words[1]};
  options.device = "host";
  options.record_misses = false;
  hone::Status status;
  auto runtime = hone::Runtime::open(options, status);
  if (!runtime) {
    std::cout << "C++: " << status.text << '\n';
    return 1;
  }
  const hone::Problem problem = runtime->family("relu").problem(hone::ElementType::f32, {1024});
  alignas(16) static float x[1024] = {-3, 5}, y[1024];
  const hone::Pick pick = runtime->run(problem, {x, y});
  std::cout << "C++: " << hone::name(pick.rung()) << ' ' << y[0] << ' ' << y[1] << '\n';
  try {
    runtime->family("nothing");
    return 1;
  } catch (const hone::Error& error) {
    std::cout << "C++: " << error.what() << '\n';
  }
  return pick.rung() == hone::Rung::exact && y[0] == 0 && y[1] == 5 ? 0 : 1;
}
