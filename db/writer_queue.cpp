#include "db/writer_queue.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace hone::db {
namespace {

// In the page that SQLite keeps for its locks, behind them.
constexpr off_t queue_byte = 0x40000000 + 1024;

/// Descriptors that no connection uses. One is never closed: with it, POSIX would take away the locks that
/// other connections of this process have on the file.
struct Idle {
  dev_t device;
  ino_t inode;
  pid_t process;  ///< a forked child's would be its parent's place
  int descriptor;
};

struct Pool {
  std::mutex mutex;
  std::vector<Idle> idle;
};

Pool& pool() {
  static Pool* const all = new Pool;  // outlives whoever closes a database at exit
  return *all;
}

bool lock(int descriptor, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = queue_byte;
  range.l_len = 1;
  return fcntl(descriptor, F_OFD_SETLK, &range) == 0;
}

}  // namespace

void wait_between_looks() {
  thread_local std::minstd_rand random{
      static_cast<std::minstd_rand::result_type>(getpid() + reinterpret_cast<std::uintptr_t>(&random))};
  std::this_thread::sleep_for(std::chrono::microseconds(200 + random() % 2800));
}

WriterQueue::WriterQueue(const std::filesystem::path& file) {
  struct stat found {};
  const std::lock_guard lock_pool(pool().mutex);
  if (::stat(file.c_str(), &found) != 0) return;
  auto& idle = pool().idle;
  for (auto each = idle.begin(); each != idle.end(); ++each) {
    if (each->device != found.st_dev || each->inode != found.st_ino || each->process != getpid()) continue;
    descriptor_ = each->descriptor;
    idle.erase(each);
    return;
  }
  descriptor_ = open(file.c_str(), O_RDWR | O_CLOEXEC);
}

WriterQueue::~WriterQueue() {
  if (descriptor_ < 0) return;
  struct stat found {};
  const std::lock_guard lock_pool(pool().mutex);
  if (fstat(descriptor_, &found) == 0)
    pool().idle.push_back({found.st_dev, found.st_ino, getpid(), descriptor_});
}

bool WriterQueue::enter(std::chrono::steady_clock::time_point deadline) {
  if (descriptor_ < 0) return true;
  while (!lock(descriptor_, F_WRLCK)) {
    if (errno != EAGAIN && errno != EACCES) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    wait_between_looks();
  }
  return true;
}

void WriterQueue::leave() noexcept {
  if (descriptor_ >= 0) lock(descriptor_, F_UNLCK);
}

}  // namespace hone::db
