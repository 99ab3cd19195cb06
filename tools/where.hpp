// --where: conditions on configurations by their parameters' values. `variant` counts as a parameter.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/records.hpp"
#include "runtime/family.hpp"
#include "tools/options.hpp"

namespace hone::tools {

/// None: the configuration's variant has no such parameter.
std::optional<db::Value> value_of(const db::Configuration& configuration, const std::string& parameter);

/// Of all variants, in the manifest's order, after `variant`.
std::vector<std::string> parameters_of(const Family& family);

/// Of all variants, each once, in the manifest's order; of `variant` their names.
std::vector<db::Value> values_of(const Family& family, const std::string& parameter);

void add_where_flag(Options& options);

class Where {
 public:
  /// From --where, and --at where the verb has it. Throws Error{invalid} for what names no parameter, or no
  /// value of it, of `family`, which has to outlive this.
  Where(const Options& options, const Family& family);

  bool match(const db::Configuration& configuration) const;

  /// A parameter's values in the manifest's order, of the variants and values that the conditions leave.
  /// Throws Error{invalid} that names `flag` where the family has no such parameter.
  std::vector<db::Value> values(std::string_view flag, const std::string& parameter) const;

  /// Parameters that the conditions leave more than one value, but for those named.
  std::vector<std::string> open_but(const std::vector<std::string>& named) const;

  /// `load=default,nt store=nt`; empty: no conditions.
  std::string text() const;

 private:
  using Conditions = std::map<std::string, std::vector<std::string>>;
  void add(Conditions& conditions, const std::string& flag, const std::string& text) const;
  bool allows(const std::string& parameter, const db::Value& value) const;

  const Family& family_;
  Conditions conditions_;
};

/// One of `parameter`'s values, else an Error{invalid} that suggests the nearest.
db::Value parse_parameter_value(std::string_view flag, std::string_view text,
                                const std::vector<db::Value>& known);

}  // namespace hone::tools
