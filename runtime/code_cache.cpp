#include "runtime/code_cache.hpp"

#include <fmt/format.h>

#include "db/error.hpp"
#include "db/store.hpp"

namespace hone {

Code& CodeCache::find(const std::filesystem::path& database, const db::Id& build_key) {
  auto& code = codes_[build_key];
  if (code == nullptr) {
    code = std::make_unique<Code>();
    code->build_key = build_key;
  }
  const bool known = code->loaded != nullptr || !code->bytes.empty() || !code->refused.empty();
  if (!known) read(database, *code);
  return *code;
}

void CodeCache::read(const std::filesystem::path& database, Code& code) {
  try {
    auto object = db::Store::open(database, db::Access::read_only).code_object(code.build_key);
    if (!object) {
      code.refused = fmt::format("{} has no code object {}", database.string(), code.build_key.hex());
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
  if (loaded_ >= most_)
    throw Error(
        ErrorCode::device,
        fmt::format("{} code objects are loaded, the limit: raise OpenOptions::maximum_modules", loaded_));
  try {
    code.loaded = device_.load(code.bytes, code.entry);
  } catch (const Error& error) {
    code.refused = fmt::format("the code object {} was not loaded: {}", code.build_key.hex(), error.what());
    throw Error(ErrorCode::device, code.refused);
  }
  ++loaded_;
  code.bytes = {};
  code.kernel.store(code.loaded.get(), std::memory_order_release);
}

void CodeCache::forgive() {
  for (auto& [key, code] : codes_) code->refused.clear();
}

}  // namespace hone
