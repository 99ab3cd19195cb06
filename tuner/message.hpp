// Bytes for messages between the coordinator and its workers: both sides are the same executable, so a
// struct's fields are listed once, in a `fields(archive, message)` function that writes and reads alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "db/id.hpp"
#include "db/value.hpp"

namespace hone::tuner {

using Bytes = std::vector<std::byte>;

class Writer {
 public:
  template <class... Fields>
  void operator()(Fields&... values) {
    (put(values), ...);
  }
  Bytes take() { return std::move(bytes_); }

 private:
  void raw(const void* data, std::size_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
  }
  template <class T>
  void put(T& value);

  Bytes bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class... Fields>
  void operator()(Fields&... values) {
    (get(values), ...);
  }

 private:
  void raw(void* data, std::size_t size) {
    if (size > bytes_.size()) throw std::runtime_error("a worker's message is cut short");
    if (size > 0) std::memcpy(data, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }
  /// A count of things that take at least a byte each, so that a damaged one cannot ask for all the memory.
  std::size_t count() {
    std::uint64_t n = 0;
    raw(&n, sizeof n);
    if (n > bytes_.size()) throw std::runtime_error("a worker's message is cut short");
    return n;
  }
  template <class T>
  void get(T& value);

  std::span<const std::byte> bytes_;
};

namespace detail {
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class K, class V, class C>
struct IsMap<std::map<K, V, C>> : std::true_type {};
template <class T>
struct IsPair : std::false_type {};
template <class A, class B>
struct IsPair<std::pair<A, B>> : std::true_type {};
}  // namespace detail

template <class T>
void Writer::put(T& value) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_arithmetic_v<Plain> || std::is_enum_v<Plain>) {
    raw(&value, sizeof value);
  } else if constexpr (std::is_same_v<Plain, db::Id>) {
    raw(value.bytes.data(), value.bytes.size());
  } else if constexpr (std::is_same_v<Plain, std::string>) {
    const std::uint64_t n = value.size();
    raw(&n, sizeof n);
    raw(value.data(), n);
  } else if constexpr (std::is_same_v<Plain, Bytes>) {
    const std::uint64_t n = value.size();
    raw(&n, sizeof n);
    raw(value.data(), n);
  } else if constexpr (std::is_same_v<Plain, db::Value>) {
    const bool text = std::holds_alternative<std::string>(value);
    put(text);
    if (text)
      put(std::get<std::string>(value));
    else
      put(std::get<std::int64_t>(value));
  } else if constexpr (detail::IsVector<Plain>::value || detail::IsMap<Plain>::value) {
    const std::uint64_t n = value.size();
    raw(&n, sizeof n);
    for (auto& item : value) put(item);
  } else if constexpr (detail::IsPair<Plain>::value) {
    put(value.first);
    put(value.second);
  } else {
    fields(*this, const_cast<Plain&>(value));
  }
}

template <class T>
void Reader::get(T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    std::uint8_t flag = 0;
    raw(&flag, 1);
    value = flag != 0;
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    raw(&value, sizeof value);
  } else if constexpr (std::is_same_v<T, db::Id>) {
    raw(value.bytes.data(), value.bytes.size());
  } else if constexpr (std::is_same_v<T, std::string>) {
    value.resize(count());
    raw(value.data(), value.size());
  } else if constexpr (std::is_same_v<T, Bytes>) {
    value.resize(count());
    raw(value.data(), value.size());
  } else if constexpr (std::is_same_v<T, db::Value>) {
    bool text = false;
    get(text);
    if (text)
      get(value.template emplace<std::string>());
    else
      get(value.template emplace<std::int64_t>());
  } else if constexpr (detail::IsVector<T>::value) {
    value.clear();
    for (std::size_t n = count(); n > 0; --n) get(value.emplace_back());
  } else if constexpr (detail::IsMap<T>::value) {
    value.clear();
    for (std::size_t n = count(); n > 0; --n) {
      typename T::key_type key;
      get(key);
      get(value[std::move(key)]);
    }
  } else if constexpr (detail::IsPair<T>::value) {
    get(value.first);
    get(value.second);
  } else {
    fields(*this, value);
  }
}

template <class Message>
Bytes encode(Message& message) {
  Writer writer;
  fields(writer, message);
  return writer.take();
}

template <class Message>
Message decode(std::span<const std::byte> bytes) {
  Message message;
  Reader reader(bytes);
  fields(reader, message);
  return message;
}

}  // namespace hone::tuner
