#include "tuner/parallel.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace hone::tuner {

void parallel_for(std::int64_t count, std::int64_t least,
                  const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  const std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::int64_t parts = std::clamp<std::int64_t>(count / std::max<std::int64_t>(least, 1), 1, cores);
  const std::int64_t each = (count + parts - 1) / parts;
  std::vector<std::jthread> threads;
  for (std::int64_t first = each; first < count; first += each)
    threads.emplace_back([&body, first, last = std::min(count, first + each)] { body(first, last); });
  body(0, std::min(count, each));
}

}  // namespace hone::tuner
