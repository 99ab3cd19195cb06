#include "tools/describe.hpp"

namespace hone::tools {

Options::Description describe(const Verb& verb) {
  const Describing describing;
  verb.run({});
  return describing.description();
}

std::vector<Options::Description> describe_all(const Verbs& among) {
  std::vector<Options::Description> all;
  for (const Verb& verb : among.verbs) {
    if (verb.summary.empty()) continue;
    if (verb.verbs == nullptr) {
      all.push_back(describe(verb));
      continue;
    }
    const auto below = describe_all(verb.verbs());
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

}  // namespace hone::tools
