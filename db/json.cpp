#include "db/json.hpp"

#include <charconv>
#include <stdexcept>

namespace hone::db::json {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  Members members() {
    Members result;
    expect('{');
    if (!take('}')) {
      do {
        std::string name = text();
        expect(':');
        result.emplace_back(std::move(name), value());
      } while (take(','));
      expect('}');
    }
    if (!rest_.empty()) fail();
    return result;
  }

 private:
  [[noreturn]] static void fail() {
    throw std::invalid_argument("not a flat JSON object of integers and texts");
  }

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail();
  }
  char next() {
    if (rest_.empty()) fail();
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  Value value() {
    if (!rest_.empty() && rest_.front() == '"') return text();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc()) fail();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return number;
  }

  std::string text() {
    expect('"');
    std::string result;
    for (char c = next(); c != '"'; c = next()) {
      if (c != '\\') {
        result += c;
        continue;
      }
      c = next();
      if (c == '"' || c == '\\') {
        result += c;
        continue;
      }
      if (c != 'u' || rest_.size() < 4 || !rest_.starts_with("00")) fail();
      unsigned code = 0;  // unsigned: no sign is read
      const char* const end = rest_.data() + 4;
      if (std::from_chars(rest_.data() + 2, end, code, 16).ptr != end || code >= 0x20) fail();
      result += static_cast<char>(code);
      rest_.remove_prefix(4);
    }
    return result;
  }

  std::string_view rest_;
};

}  // namespace

void append_string(std::string& out, std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string write(const Members& members) {
  std::string out = "{";
  for (const auto& [name, value] : members) {
    if (out.size() > 1) out += ',';
    append_string(out, name);
    out += ':';
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      out += std::to_string(*number);
    } else {
      append_string(out, std::get<std::string>(value));
    }
  }
  return out + '}';
}

Members read(std::string_view text) {
  return Reader(text).members();
}

}  // namespace hone::db::json
