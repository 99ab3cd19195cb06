// A socket that carries framed messages: kind, length, payload.
#pragma once

#include <optional>
#include <utility>

#include "tuner/protocol.hpp"

namespace hone::tuner {

/// Owns the socket.
class Channel {
 public:
  Channel() = default;
  explicit Channel(int socket) : socket_(socket) {}
  Channel(Channel&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  Channel& operator=(Channel&& other) noexcept;
  ~Channel();

  int socket() const noexcept { return socket_; }

  /// Throws std::runtime_error when the other end is gone.
  void send(Kind kind, const Bytes& payload);
  template <class Message>
  void send(Kind kind, Message& message) {
    send(kind, encode(message));
  }

  struct Frame {
    Kind kind = Kind::reply;
    Bytes payload;
  };
  /// Waits for one frame; none when the other end has closed.
  std::optional<Frame> receive();

 private:
  int socket_ = -1;
};

}  // namespace hone::tuner
