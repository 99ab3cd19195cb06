// The hone command.
#include <csignal>

#include "tools/verbs.hpp"

int main(int count, char** values) {
  // A reader of ours that ends early, and a worker that dies, are told by write(), not by a signal.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow
  return hone::tools::run({values + (count > 0 ? 1 : 0), values + count});
}
