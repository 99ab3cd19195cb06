// The words of an expression. Names are told from functions and from SQL's own words, everything that is not
// part of one plain expression is refused, and what SQLite sees is put together from these words, never
// pasted.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "db/error.hpp"

namespace hone::db {

struct Token {
  enum class Kind {
    name,
    function,
    word
  };  ///< word: numbers, texts, operators, keywords, as SQL writes them
  Kind kind;
  std::string text;
};

/// Throws Error{expression}.
std::vector<Token> tokenize(std::string_view expression);

/// The expression in parentheses, with every name replaced by what `replace(name)` gives.
std::string render(std::string_view expression,
                   const std::function<std::string(const std::string&)>& replace);

/// The Error of an expression: quotes it on one line.
Error expression_error(std::string_view expression, const std::string& why);
Error unknown_name(std::string_view expression, const std::string& name, const std::set<std::string>& known);

}  // namespace hone::db
