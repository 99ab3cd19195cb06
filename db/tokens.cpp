#include "db/tokens.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "db/error.hpp"

namespace hone::db {
namespace {

constexpr std::size_t longest = 10000;
constexpr int deepest = 100;

// Functions of integers and short texts that give the same answer every time and cannot grow.
constexpr std::array functions{"abs", "coalesce", "ifnull", "iif",  "instr",  "length",
                               "max", "min",      "nullif", "sign", "substr", "typeof"};

constexpr std::array keywords{"and",    "between", "case",    "else", "end", "false", "in",   "is",
                              "isnull", "not",     "notnull", "null", "or",  "then",  "true", "when"};

// Longest first.
constexpr std::array<std::string_view, 21> operators{
    "<<", ">>", "<=", ">=", "<>", "!=", "==", "+", "-", "*", "/",
    "%",  "&",  "|",  "~",  "<",  ">",  "=",  "(", ")", ","};

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool one_of(const auto& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view expression) : expression_(expression), rest_(expression) {}

  std::vector<Token> tokens() {
    if (expression_.size() > longest) fail(fmt::format("longer than {} characters", longest));
    for (skip_space(); !rest_.empty(); skip_space()) tokens_.push_back(next());
    if (tokens_.empty()) fail("empty");
    if (depth_ > 0) fail("a parenthesis is not closed");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw expression_error(expression_, why); }

  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || (rest_.front() >= '\t' && rest_.front() <= '\r'))) {
      rest_.remove_prefix(1);
    }
  }

  std::string take(std::size_t length) {
    std::string text(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return text;
  }

  Token next() {
    const char c = rest_.front();
    if (letter(c)) return word();
    if (digit(c) || (c == '.' && rest_.size() > 1 && digit(rest_[1]))) return number();
    if (c == '\'') return text();
    return symbol();
  }

  Token word() {
    const auto end =
        std::find_if_not(rest_.begin(), rest_.end(), [](char c) { return letter(c) || digit(c); });
    const std::string text = take(static_cast<std::size_t>(end - rest_.begin()));
    const std::string folded = lower(text);
    if (one_of(keywords, folded)) return {Token::Kind::word, folded};
    skip_space();
    if (rest_.empty() || rest_.front() != '(') return {Token::Kind::name, text};
    if (!one_of(functions, folded)) {
      fail(fmt::format("there is no function `{}`; there are {}", text, fmt::join(functions, ", ")));
    }
    return {Token::Kind::function, folded};
  }

  Token number() {
    const bool hexadecimal = rest_.size() > 1 && rest_[0] == '0' && (rest_[1] == 'x' || rest_[1] == 'X');
    std::size_t length = 0;
    while (length < rest_.size() && (letter(rest_[length]) || digit(rest_[length]) || rest_[length] == '.'))
      ++length;
    const std::string text = take(length);
    const char* const first = text.data() + (hexadecimal ? 2 : 0);
    const char* const last = text.data() + text.size();
    std::int64_t integer = 0;
    auto parsed = std::from_chars(first, last, integer, hexadecimal ? 16 : 10);
    if (parsed.ec == std::errc() && parsed.ptr == last) return {Token::Kind::word, std::to_string(integer)};
    if (parsed.ec == std::errc::result_out_of_range && parsed.ptr == last) {
      fail(fmt::format("{} does not fit 64 bits", text));
    }
    double real = 0;
    parsed = std::from_chars(first, last, real);
    if (hexadecimal || parsed.ec != std::errc() || parsed.ptr != last)
      fail(fmt::format("`{}` is no number", text));
    return {Token::Kind::word, text};
  }

  Token text() {
    std::size_t end = rest_.find('\'', 1);
    while (end != std::string_view::npos && end + 1 < rest_.size() && rest_[end + 1] == '\'') {
      end = rest_.find('\'', end + 2);  // two quotes stand for one
    }
    if (end == std::string_view::npos) fail("a text is not closed");
    const std::string quoted = take(end + 1);
    if (quoted.find('\0') != std::string::npos) fail("a text holds a zero byte");
    return {Token::Kind::word, quoted};
  }

  Token symbol() {
    if (rest_.starts_with("--") || rest_.starts_with("/*")) {
      fail("comments are not allowed; write `- -` for two minus signs");
    }
    if (rest_.front() == '"' || rest_.front() == '`' || rest_.front() == '[') {
      fail("names take no quotes, and texts take single ones");
    }
    const auto found = std::find_if(operators.begin(), operators.end(),
                                    [&](std::string_view symbol) { return rest_.starts_with(symbol); });
    if (rest_.starts_with("||") || rest_.starts_with("->")) {  // texts and JSON, which are no integers
      fail(fmt::format("`{}` is not allowed", rest_.substr(0, 2)));
    }
    if (found == operators.end())
      fail(fmt::format("`{}` is not part of an expression", printable(rest_.front())));
    if (*found == "(" && ++depth_ > deepest) fail("parentheses are nested too deeply");
    if (*found == ")" && --depth_ < 0) fail("a parenthesis is closed that was not opened");
    if (*found == "," && depth_ == 0) fail("is more than one expression");
    return {Token::Kind::word, take(found->size())};
  }

  static std::string printable(char c) {
    return c >= ' ' && c != 0x7f ? std::string(1, c)
                                 : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }

  std::string_view expression_;
  std::string_view rest_;
  std::vector<Token> tokens_;
  int depth_ = 0;
};

}  // namespace

std::vector<Token> tokenize(std::string_view expression) {
  return Tokenizer(expression).tokens();
}

std::string render(std::string_view expression,
                   const std::function<std::string(const std::string&)>& replace) {
  std::string text = "(";
  for (const Token& token : tokenize(expression)) {
    text += token.kind == Token::Kind::name ? replace(token.text) : token.text;
    text += ' ';
  }
  return text + ')';
}

Error expression_error(std::string_view expression, const std::string& why) {
  constexpr std::size_t shown = 200;
  std::string quoted;
  for (const char c : expression.substr(0, shown)) quoted += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  if (expression.size() > shown) quoted += "…";
  return {Error::Kind::expression, fmt::format("expression `{}`: {}", quoted, why)};
}

Error unknown_name(std::string_view expression, const std::string& name, const std::set<std::string>& known) {
  std::string remedy = "it may read no names";
  if (!known.empty()) remedy = fmt::format("it may read {}", fmt::join(known, ", "));
  for (const std::string& other : known) {
    if (lower(other) == lower(name)) remedy = fmt::format("did you mean `{}`?", other);
  }
  return expression_error(expression, fmt::format("unknown name `{}`; {}", name, remedy));
}

}  // namespace hone::db
