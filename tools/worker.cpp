// hone worker FD: the other end of the tuner's workers; not for people.
#include "tuner/worker.hpp"

#include "tools/parse.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {

int worker(const Arguments& arguments) {
  if (arguments.size() != 1)
    throw Error(ErrorCode::invalid, "worker: it is started by hone itself, with its socket");
  return tuner::run_worker(static_cast<int>(parse_integer("worker", arguments[0], 0, 1 << 20)));
}

}  // namespace hone::tools
