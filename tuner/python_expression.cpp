#include "tuner/python_expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hone::tuner {
namespace {

constexpr std::size_t most_values = 100'000;

struct Token {
  enum class Kind { name, integer, text, symbol, end } kind;
  std::string text;
  bool is(std::string_view symbol) const {
    return (kind == Kind::symbol || kind == Kind::name) && text == symbol;
  }
};

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}

/// Ends with a token `end`.
std::vector<Token> tokens_of(std::string_view rest) {
  // Longest first.
  constexpr std::array<std::string_view, 23> symbols{"//", "**", "==", "!=", "<=", ">=", "<<", ">>",
                                                     "+",  "-",  "*",  "/",  "%",  "<",  ">",  "(",
                                                     ")",  "[",  "]",  ",",  "&",  "|",  "^"};
  std::vector<Token> tokens;
  const auto take = [&](Token::Kind kind, std::size_t length) {
    tokens.push_back({kind, std::string(rest.substr(0, length))});
    rest.remove_prefix(length);
  };
  while (!rest.empty()) {
    const char c = rest.front();
    std::size_t length = 0;
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      rest.remove_prefix(1);
    } else if (letter(c)) {
      while (length < rest.size() && (letter(rest[length]) || digit(rest[length]))) ++length;
      take(Token::Kind::name, length);
    } else if (digit(c)) {
      while (length < rest.size() && (letter(rest[length]) || digit(rest[length]) || rest[length] == '.'))
        ++length;
      std::int64_t value = 0;
      const auto [stop, error] = std::from_chars(rest.data(), rest.data() + length, value);
      if (error != std::errc() || stop != rest.data() + length)
        throw NotUnderstood(fmt::format("`{}` is no integer of 64 bits", rest.substr(0, length)));
      take(Token::Kind::integer, length);
    } else if (c == '\'' || c == '"') {
      const std::size_t end = rest.find(c, 1);
      const std::string_view quoted = rest.substr(1, end == std::string_view::npos ? end : end - 1);
      if (end == std::string_view::npos || quoted.find_first_of("\\'\"") != std::string_view::npos)
        throw NotUnderstood("a text is not closed, or has quotes or backslashes in it");
      tokens.push_back({Token::Kind::text, std::string(quoted)});
      rest.remove_prefix(end + 1);
    } else {
      const auto symbol = std::find_if(symbols.begin(), symbols.end(),
                                       [&](std::string_view each) { return rest.starts_with(each); });
      if (symbol == symbols.end()) throw NotUnderstood(fmt::format("`{}` is not understood", c));
      take(Token::Kind::symbol, symbol->size());
    }
  }
  tokens.push_back({Token::Kind::end, "the end"});
  return tokens;
}

/// Reads a list of values.
class ListReader {
 public:
  explicit ListReader(const std::string& text) : tokens_(tokens_of(text)) {}

  std::vector<db::Value> all() {
    std::vector<db::Value> values = list();
    if (next().kind != Token::Kind::end) throw unexpected();
    if (values.empty()) throw NotUnderstood("has no values");
    return values;
  }

 private:
  const Token& next() const { return tokens_[at_]; }
  NotUnderstood unexpected() const {
    return NotUnderstood(
        fmt::format("`{}` is not understood; give a list of integers or texts, or range()", next().text));
  }
  bool take(std::string_view symbol) {
    if (!next().is(symbol)) return false;
    ++at_;
    return true;
  }
  void require(std::string_view symbol) {
    if (!take(symbol)) throw unexpected();
  }

  std::vector<db::Value> list() {
    if (take("list")) {
      require("(");
      std::vector<db::Value> values = list();
      require(")");
      return values;
    }
    if (take("range")) return range();
    const char* const close = next().is("(") ? ")" : "]";
    if (!take("(")) require("[");
    std::vector<db::Value> values;
    while (!take(close)) {
      values.push_back(value());
      if (values.size() > most_values) throw NotUnderstood("has too many values");
      if (!next().is(close)) require(",");
    }
    return values;
  }

  std::vector<db::Value> range() {
    std::vector<std::int64_t> given;
    require("(");
    do {
      given.push_back(integer());
    } while (take(","));
    require(")");
    if (given.size() > 3) throw NotUnderstood("range() takes up to three integers");
    const std::int64_t first = given.size() == 1 ? 0 : given[0], end = given[given.size() == 1 ? 0 : 1],
                       step = given.size() == 3 ? given[2] : 1;
    if (step == 0) throw NotUnderstood("range() has a step of 0");
    std::vector<db::Value> values;
    for (std::int64_t i = first; step > 0 ? i < end : i > end;) {
      values.emplace_back(i);
      if (values.size() > most_values) throw NotUnderstood("has too many values");
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    return values;
  }

  std::int64_t integer() {
    const bool minus = take("-");
    if (next().kind != Token::Kind::integer) throw unexpected();
    const std::int64_t value = std::stoll(tokens_[at_++].text);
    return minus ? -value : value;
  }

  db::Value value() {
    if (next().kind == Token::Kind::text) return tokens_[at_++].text;
    if (take("True")) return std::int64_t{1};
    if (take("False")) return std::int64_t{0};
    return integer();
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

/// Writes the tokens of an expression as SQL. The two languages' operators bind alike but for the
/// comparisons, of which Python chains several.
class Writer {
 public:
  Writer(const std::string& expression, const std::set<std::string>& names)
      : tokens_(tokens_of(expression)), names_(names) {}

  std::string sql() {
    for (; next().kind != Token::Kind::end; ++at_) write();
    if (open_.size() > 1) throw NotUnderstood("a bracket is not closed");
    // Python rounds down and takes the remainder that goes with it, SQL towards zero.
    if (divides_ && subtracts_)
      throw NotUnderstood(
          "has a difference, and // or % of what may be negative, which SQL rounds otherwise");
    return sql_;
  }

 private:
  struct Bracket {
    bool after_operator = false;  ///< its value is an operand
    bool logical = false;  ///< it has `and` or `or`, which give an operand in Python, and 0 or 1 in SQL
    int comparisons = 0;   ///< since the last `and`, `or` or comma
  };

  const Token& next() const { return tokens_[at_]; }
  const Token* before() const { return at_ == 0 ? nullptr : &tokens_[at_ - 1]; }

  static bool is_operator(const Token& token) {
    return token.kind == Token::Kind::symbol && !token.is("(") && !token.is(")") && !token.is("[") &&
           !token.is("]") && !token.is(",");
  }

  void put(std::string_view text) {
    sql_ += text;
    sql_ += ' ';
  }

  void compare(std::string_view sql) {
    if (++open_.back().comparisons > 1) throw NotUnderstood("chains comparisons; join them by `and`");
    put(sql);
  }

  void write() {
    switch (next().kind) {
      case Token::Kind::integer:
        return put(next().text);
      case Token::Kind::text:
        return put("'" + next().text + "'");
      case Token::Kind::name:
        return name();
      default:
        return symbol();
    }
  }

  void name() {
    const std::string& word = next().text;
    const Token& after = tokens_[at_ + 1];
    if (word == "and" || word == "or") {
      open_.back().logical = true;
      open_.back().comparisons = 0;
      return put(word == "and" ? "AND" : "OR");
    }
    if (word == "not") return put("NOT");
    if (word == "in") return compare("IN");
    if (word == "True" || word == "False") return put(word == "True" ? "1" : "0");
    if ((word == "min" || word == "max" || word == "abs") && after.is("(")) return put(word);
    if (!names_.contains(word) || after.is("(") || after.is("["))
      throw NotUnderstood(fmt::format("`{}` is not understood; there are {}", word, fmt::join(names_, ", ")));
    put(word);
  }

  void symbol() {
    const std::string& symbol = next().text;
    if (symbol == "(" || symbol == "[") {
      if (symbol == "[" && !(before() != nullptr && before()->is("in")))
        throw NotUnderstood("`[` is understood after `in` alone");
      open_.push_back({before() != nullptr && is_operator(*before()), false, 0});
      return put("(");
    }
    if (symbol == ")" || symbol == "]") return close();
    if (symbol == ",") {
      if (open_.size() == 1) throw NotUnderstood("is more than one expression");
      open_.back().comparisons = 0;
      const Token& after = tokens_[at_ + 1];
      return after.is(")") || after.is("]") ? void() : put(",");
    }
    if (symbol == "==") return compare("=");
    if (symbol == "!=") return compare("<>");
    if (symbol == "<" || symbol == ">" || symbol == "<=" || symbol == ">=") return compare(symbol);
    divides_ |= symbol == "//" || symbol == "%";
    subtracts_ |= symbol == "-";
    if (symbol == "//") return put("/");
    if (symbol == "+" || symbol == "-" || symbol == "*" || symbol == "%") return put(symbol);
    throw NotUnderstood(fmt::format("`{}` is not understood{}", symbol,
                                    symbol == "/" ? "; whole numbers are divided by //" : ""));
  }

  void close() {
    if (open_.size() == 1) throw NotUnderstood("a bracket is closed that was not opened");
    if (open_.back().logical && (open_.back().after_operator || is_operator(tokens_[at_ + 1])))
      throw NotUnderstood("calculates with what `and` or `or` gives");
    open_.pop_back();
    put(")");
  }

  std::vector<Token> tokens_;
  const std::set<std::string>& names_;
  std::size_t at_ = 0;
  std::vector<Bracket> open_{{}};
  bool divides_ = false, subtracts_ = false;
  std::string sql_;
};

}  // namespace

std::vector<db::Value> values_of_python(const std::string& text) {
  return ListReader(text).all();
}

std::string sql_of_python(const std::string& expression, const std::set<std::string>& names) {
  return Writer(expression, names).sql();
}

}  // namespace hone::tuner
