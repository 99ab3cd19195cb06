#include "tools/describe.hpp"

namespace hone::tools {

Options::Description describe(const Verb& verb) {
  const Describing describing;
  verb.run({});
  return describing.description();
}

std::vector<Options::Description> describe_all() {
  std::vector<Options::Description> all;
  const auto add = [&](const Verbs& verbs) {
    for (const Verb& verb : verbs.verbs)
      if (!verb.summary.empty()) all.push_back(describe(verb));
  };
  for (const Verb& verb : command_verbs().verbs) {
    if (verb.name == "query")
      add(query_verbs());
    else if (verb.name == "db")
      add(database_verbs());
    else if (!verb.summary.empty())
      all.push_back(describe(verb));
  }
  return all;
}

}  // namespace hone::tools
