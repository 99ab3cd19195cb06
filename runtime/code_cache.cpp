#include "runtime/code_cache.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "db/error.hpp"

namespace hone {

std::atomic<std::size_t> CodeCache::loaded_by_all_{0};

CodeCache::~CodeCache() {
  loaded_by_all_ -= loaded_;
}

Code& CodeCache::find(const WinnerIndex& database, const db::Id& build_key) {
  auto& code = codes_[build_key];
  if (code == nullptr) {
    code = std::make_unique<Code>();
    code->build_key = build_key;
  }
  if (code->loaded != nullptr || !code->bytes.empty()) return *code;
  // What one database lacks another may have.
  const std::string file = database.file().string();
  if (std::find(code->tried.begin(), code->tried.end(), file) != code->tried.end()) return *code;
  code->tried.push_back(file);
  code->refused.clear();
  read(database, *code);
  return *code;
}

void CodeCache::read(const WinnerIndex& database, Code& code) {
  try {
    auto object = database.code_object(code.build_key);
    if (!object) {
      code.refused = fmt::format("{} has no code object {}", database.file().string(), code.build_key.hex());
    } else if (object->architecture != device_.info().architecture) {
      code.refused = fmt::format("the code object {} is for {}, not {}", code.build_key.hex(),
                                 object->architecture, device_.info().architecture);
    } else if (object->bytes.empty()) {
      code.refused = fmt::format("the code object {} is empty", code.build_key.hex());
    } else {
      code.entry = std::move(object->entry);
      code.bytes = std::move(object->bytes);
    }
  } catch (const db::Error& error) {
    code.refused = error.what();
  }
}

void CodeCache::load(Code& code) {
  if (code.loaded != nullptr) return;
  if (!code.refused.empty()) throw Error(ErrorCode::device, code.refused);
  // No mark: it may serve once others are gone with their runtime.
  if (loaded_by_all_.fetch_add(1) >= most_) {
    --loaded_by_all_;
    throw Error(ErrorCode::device,
                fmt::format("{} code objects are loaded in this process, the limit: raise "
                            "OpenOptions::maximum_modules, or close a Runtime that is not used",
                            most_));
  }
  try {
    code.loaded = device_.load(code.bytes, code.entry);
  } catch (const Error& error) {
    --loaded_by_all_;
    code.refused = fmt::format("the code object {} was not loaded: {}", code.build_key.hex(), error.what());
    throw Error(ErrorCode::device, code.refused);
  } catch (...) {
    --loaded_by_all_;
    throw;
  }
  ++loaded_;
  code.bytes = {};
  code.kernel.store(code.loaded.get(), std::memory_order_release);
}

void CodeCache::forgive() {
  for (auto& [key, code] : codes_) {
    code->refused.clear();
    code->tried.clear();
  }
}

}  // namespace hone
