#include "tuner/channel.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace hone::tuner {

namespace {

struct Header {
  std::uint64_t size;
  std::uint64_t kind;
};

/// False when the other end closed before the first byte.
bool read_all(int socket, void* to, std::size_t size) {
  auto* at = static_cast<char*>(to);
  std::size_t left = size;
  while (left > 0) {
    const ssize_t n = ::recv(socket, at, left, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    left -= static_cast<std::size_t>(n);
  }
  return true;
}

void write_all(int socket, const void* from, std::size_t size) {
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t n = ::send(socket, at, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw std::system_error(errno, std::generic_category(), "the worker's socket");
    at += n;
    size -= static_cast<std::size_t>(n);
  }
}

}  // namespace

Channel& Channel::operator=(Channel&& other) noexcept {
  std::swap(socket_, other.socket_);
  return *this;
}

Channel::~Channel() {
  if (socket_ >= 0) ::close(socket_);
}

void Channel::send(Kind kind, const Bytes& payload) {
  const Header header{payload.size(), static_cast<std::uint64_t>(kind)};
  write_all(socket_, &header, sizeof header);
  write_all(socket_, payload.data(), payload.size());
}

std::optional<Channel::Frame> Channel::receive() {
  Header header{};
  if (!read_all(socket_, &header, sizeof header)) return std::nullopt;
  Frame frame;
  frame.kind = static_cast<Kind>(header.kind);
  frame.payload.resize(header.size);
  if (!read_all(socket_, frame.payload.data(), frame.payload.size())) return std::nullopt;
  return frame;
}

}  // namespace hone::tuner
