#include "faulty_vfs.hpp"

#include <algorithm>
#include <fstream>
#include <set>

namespace hone::db::testing {
namespace {

constexpr std::size_t sector = 512;

std::string name_of(const char* path) {
  return path == nullptr ? std::string() : std::filesystem::path(path).filename().string();
}

}  // namespace

/// SQLite allots it, with the real file behind it.
struct FaultyVfs::File {
  sqlite3_file base;
  FaultyVfs* owner;
  std::string* name;  ///< empty: a temporary file
  bool is_journal;
  bool folder_synced;  ///< SQLite syncs a new journal's folder with the journal's first sync
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

struct FaultyVfs::Methods {
  static File* file(sqlite3_file* base) { return reinterpret_cast<File*>(base); }
  static FaultyVfs* owner(sqlite3_vfs* vfs) { return static_cast<FaultyVfs*>(vfs->pAppData); }

  static int open(sqlite3_vfs* vfs, sqlite3_filename path, sqlite3_file* base, int flags, int* out_flags) {
    FaultyVfs& self = *owner(vfs);
    File* const opened = file(base);
    opened->base.pMethods = nullptr;
    if (self.fails(Fault::io_error)) return SQLITE_CANTOPEN;
    std::error_code ignored;
    const bool is_new = path != nullptr && !std::filesystem::exists(path, ignored);
    // Made by hone, which had its name survive a power cut.
    const bool is_unknown = path != nullptr && !is_new && self.known_.insert(name_of(path)).second;
    const int code = self.real_->xOpen(self.real_, path, opened->real(), flags, out_flags);
    if (code != SQLITE_OK) return code;
    opened->owner = &self;
    opened->name = new std::string(name_of(path));
    opened->is_journal = (flags & SQLITE_OPEN_MAIN_JOURNAL) != 0;
    opened->folder_synced = !is_new;
    opened->base.pMethods = &io;
    if (is_new || is_unknown) self.events_.push_back({Event::Kind::create, *opened->name});
    if (is_new) self.known_.insert(*opened->name);
    if (is_unknown) self.events_.push_back({Event::Kind::sync_folder, ""});
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs* vfs, const char* path, int sync_folder) {
    FaultyVfs& self = *owner(vfs);
    if (self.fails(Fault::io_error)) return SQLITE_IOERR_DELETE;
    const int code = self.real_->xDelete(self.real_, path, 0);
    if (code != SQLITE_OK) return code;
    self.events_.push_back({Event::Kind::remove, name_of(path)});
    if (sync_folder == 0) return SQLITE_OK;
    if (self.fails(Fault::failed_sync)) return SQLITE_IOERR_DIR_FSYNC;
    self.events_.push_back({Event::Kind::sync_folder, ""});
    return SQLITE_OK;
  }

  static int access(sqlite3_vfs* vfs, const char* path, int flags, int* result) {
    FaultyVfs& self = *owner(vfs);
    if (self.fails(Fault::io_error)) return SQLITE_IOERR_ACCESS;
    return self.real_->xAccess(self.real_, path, flags, result);
  }

  static int close(sqlite3_file* base) {
    File* const closed = file(base);
    delete closed->name;
    return closed->real()->pMethods->xClose(closed->real());
  }

  static int read(sqlite3_file* base, void* to, int size, sqlite3_int64 at) {
    if (file(base)->owner->fails(Fault::io_error)) return SQLITE_IOERR_READ;
    return file(base)->real()->pMethods->xRead(file(base)->real(), to, size, at);
  }

  static int write(sqlite3_file* base, const void* from, int size, sqlite3_int64 at) {
    File* const written = file(base);
    FaultyVfs& self = *written->owner;
    if (self.fails(Fault::full_disk)) return SQLITE_FULL;
    if (self.fails(Fault::io_error)) return SQLITE_IOERR_WRITE;
    const bool is_short = self.fails(Fault::short_write);
    const int reached = is_short ? size / 2 : size;
    const int code = written->real()->pMethods->xWrite(written->real(), from, reached, at);
    if (code != SQLITE_OK) return code;
    self.events_.push_back({Event::Kind::write, *written->name, at,
                            std::string(static_cast<const char*>(from), static_cast<std::size_t>(reached))});
    return is_short ? SQLITE_IOERR_WRITE : SQLITE_OK;
  }

  static int truncate(sqlite3_file* base, sqlite3_int64 size) {
    File* const shortened = file(base);
    if (shortened->owner->fails(Fault::io_error)) return SQLITE_IOERR_TRUNCATE;
    const int code = shortened->real()->pMethods->xTruncate(shortened->real(), size);
    if (code == SQLITE_OK)
      shortened->owner->events_.push_back({Event::Kind::truncate, *shortened->name, size});
    return code;
  }

  // The real fsync is left out: what is durable is what the events say.
  static int sync(sqlite3_file* base, int) {
    File* const synced = file(base);
    FaultyVfs& self = *synced->owner;
    if (self.fails(Fault::failed_sync) || self.fails(Fault::io_error)) return SQLITE_IOERR_FSYNC;
    self.events_.push_back({Event::Kind::sync, *synced->name});
    if (synced->is_journal && !synced->folder_synced) self.events_.push_back({Event::Kind::sync_folder, ""});
    synced->folder_synced = true;
    return SQLITE_OK;
  }

  static int size(sqlite3_file* base, sqlite3_int64* size) {
    if (file(base)->owner->fails(Fault::io_error)) return SQLITE_IOERR_FSTAT;
    return file(base)->real()->pMethods->xFileSize(file(base)->real(), size);
  }

  static int lock(sqlite3_file* base, int level) {
    if (file(base)->owner->fails(Fault::io_error)) return SQLITE_IOERR_LOCK;
    return file(base)->real()->pMethods->xLock(file(base)->real(), level);
  }
  static int unlock(sqlite3_file* base, int level) {
    return file(base)->real()->pMethods->xUnlock(file(base)->real(), level);
  }
  static int check_reserved(sqlite3_file* base, int* result) {
    return file(base)->real()->pMethods->xCheckReservedLock(file(base)->real(), result);
  }
  static int control(sqlite3_file* base, int operation, void* argument) {
    return file(base)->real()->pMethods->xFileControl(file(base)->real(), operation, argument);
  }
  static int sector_size(sqlite3_file* base) {
    return file(base)->real()->pMethods->xSectorSize(file(base)->real());
  }
  static int characteristics(sqlite3_file* base) {
    return file(base)->real()->pMethods->xDeviceCharacteristics(file(base)->real());
  }

  // Version 1: no shared memory and no mapping, neither of which hone uses.
  static constexpr sqlite3_io_methods io{
      1,       close,          read,    write,       truncate,        sync,    size,    lock,
      unlock,  check_reserved, control, sector_size, characteristics, nullptr, nullptr, nullptr,
      nullptr, nullptr,        nullptr};
};

FaultyVfs::FaultyVfs() : real_(sqlite3_vfs_find(nullptr)), vfs_(*real_) {
  vfs_.zName = "hone-faulty";
  vfs_.pAppData = this;
  vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
  vfs_.xOpen = Methods::open;
  vfs_.xDelete = Methods::remove;
  vfs_.xAccess = Methods::access;
  sqlite3_vfs_register(&vfs_, 1);
}

FaultyVfs::~FaultyVfs() {
  sqlite3_vfs_unregister(&vfs_);
  sqlite3_vfs_register(real_, 1);
}

void FaultyVfs::fail_at(std::int64_t n, Fault fault, bool lasting) {
  left_ = n;
  calls_ = 0;
  fault_ = fault;
  lasting_ = lasting;
  failed_ = false;
}

void FaultyVfs::heal() {
  left_ = -1;
}

bool FaultyVfs::fails(Fault fault) {
  if (fault != fault_) return false;
  ++calls_;
  if (left_ < 0) return false;
  if (left_ > 0) --left_;
  if (left_ > 0 || (failed_ && !lasting_)) return false;
  failed_ = true;
  return true;
}

PowerCut::PowerCut(const std::vector<Event>& events, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Event& event = events[i];
    switch (event.kind) {
      case Event::Kind::create:
        names_[event.file] = files_.size();
        files_.emplace_back();
        break;
      case Event::Kind::write:
      case Event::Kind::truncate:
        files_[names_.at(event.file)].pending.push_back(&event);
        break;
      case Event::Kind::sync: {
        File& file = files_[names_.at(event.file)];
        for (const Event* change : file.pending) {
          const auto at = static_cast<std::size_t>(change->at);
          if (change->kind == Event::Kind::truncate) {
            file.synced.resize(at);
          } else {
            file.synced.resize(std::max(file.synced.size(), at + change->bytes.size()));
            file.synced.replace(at, change->bytes.size(), change->bytes);
          }
        }
        file.pending.clear();
        break;
      }
      case Event::Kind::remove:
        names_.erase(event.file);
        break;
      case Event::Kind::sync_folder:
        durable_ = names_;
        break;
    }
  }
}

void PowerCut::write(const std::filesystem::path& folder, Kept kept, std::mt19937& random) const {
  const auto keeps = [&] {
    return kept == Kept::everything || (kept == Kept::some && std::bernoulli_distribution(0.5)(random));
  };
  std::set<std::string> all;
  for (const Names* names : {&names_, &durable_})
    for (const auto& [name, file] : *names) all.insert(name);
  for (const std::string& name : all) {
    const Names& on_disk = keeps() ? names_ : durable_;
    const auto named = on_disk.find(name);
    if (named == on_disk.end()) continue;
    const File& file = files_[named->second];
    std::string bytes = file.synced;
    for (const Event* change : file.pending) {
      const auto start = static_cast<std::size_t>(change->at);
      if (change->kind == Event::Kind::truncate) {
        if (keeps()) bytes.resize(start);
        continue;
      }
      for (std::size_t at = 0; at < change->bytes.size();) {
        const std::size_t length = std::min(sector - (start + at) % sector, change->bytes.size() - at);
        if (keeps()) {
          bytes.resize(std::max(bytes.size(), start + at + length));
          bytes.replace(start + at, length, change->bytes, at, length);
        }
        at += length;
      }
    }
    std::ofstream(folder / name, std::ios::binary | std::ios::trunc) << bytes;
  }
}

}  // namespace hone::db::testing
