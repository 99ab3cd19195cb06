// hone db peak: gives a device's peak, which ladders compare with.
#include <fmt/format.h>

#include "db/store.hpp"
#include "runtime/spelling.hpp"
#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/flags.hpp"
#include "tools/parse.hpp"
#include "tools/terminal.hpp"
#include "tools/units.hpp"
#include "tools/verbs.hpp"
#include "tuner/bound.hpp"

namespace hone::tools {
namespace {

/// The devices called so; several only where they differ in size or partition alone.
std::vector<std::pair<db::Id, db::Device>> devices_called(db::Store& store, const std::string& choice) {
  std::vector<std::pair<db::Id, db::Device>> found;
  std::vector<std::string> known;
  for (auto& [id, device] : store.devices()) {
    known.push_back(device.name);
    if (is_called(device, choice)) found.emplace_back(id, std::move(device));
  }
  if (found.empty()) {
    throw Error(ErrorCode::invalid, fmt::format("db peak: {} holds no device `{}`{}", store.file().string(),
                                                choice, suggestion(choice, known)));
  }
  for (const auto& [id, device] : found) {
    if (device.name != found[0].second.name) {
      throw Error(ErrorCode::invalid,
                  fmt::format("db peak: both {} and {} are called `{}`; give more of the name",
                              found[0].second.name, device.name, choice));
    }
  }
  return found;
}

}  // namespace

int database_peak(const Arguments& arguments) {
  Options options(
      "db peak", "DEVICE RATE", "hone db peak H200 4800GB/s",
      "Gives the peak of a tuned device's memory, bytes read and written a second, from its data sheet or "
      "another benchmark. `hone query ladder` shows throughputs as parts of the peak given last; without "
      "one, of "
      "the most that the family copy reached. With --dtype, the peak of operations on a type, as 989TFLOP/s. "
      "`hone tune` leaves out configurations that given peaks show cannot win: never give less than the "
      "device "
      "can do.");
  add_type_flag(options);
  add_database_flag(options);
  if (!options.parse(arguments, 2, 2)) return exit_done;
  const std::vector<std::string> types = element_types_of(options);
  const std::string& text = options.positional()[1];
  std::int64_t rate = 0;
  if (types.empty()) {
    rate = parse_rate("RATE", text);
  } else {
    const auto operations = parse_operations(text);
    if (!operations)
      throw Error(
          ErrorCode::invalid,
          fmt::format("db peak: RATE `{}`: with --dtype give operations a second, above zero, as 989TFLOP/s",
                      text));
    rate = *operations;
  }

  db::Store store = db::Store::open(database_of(options), db::Access::read_write);
  for (const auto& [id, device] : devices_called(store, options.positional()[0])) {
    if (types.empty()) {
      store.put_peak({id, "memory", rate});
      write_out(fmt::format("{} {}: {} GB/s\n", device.name, device.architecture,
                            number_text(static_cast<double>(rate) / 1e9)));
    }
    for (const std::string& type : types) {
      store.put_peak({id, tuner::peak_of_work(type), rate});
      write_out(fmt::format("{} {} {}: {} TFLOP/s\n", device.name, device.architecture, type,
                            number_text(static_cast<double>(rate) / 1e12)));
    }
  }
  return exit_done;
}

}  // namespace hone::tools
