// hone db peak: gives a device's peak, which ladders compare with, or withdraws it.
#include <fmt/format.h>

#include "db/store.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/parse.hpp"
#include "tools/peaks.hpp"
#include "tools/recorded_devices.hpp"
#include "tools/terminal.hpp"
#include "tools/units.hpp"
#include "tools/verbs.hpp"
#include "tuner/bound.hpp"

namespace hone::tools {
namespace {

/// The devices called so; several only where they differ in size or partition alone.
RecordedDevices devices_alike(db::Store& store, const std::string& choice) {
  RecordedDevices found = devices_called(store, "db peak", choice);
  for (const auto& [id, device] : found) {
    if (device.name != found[0].second.name) {
      throw Error(ErrorCode::invalid,
                  fmt::format("db peak: both {} and {} are called `{}`; give more of the name",
                              found[0].second.name, device.name, choice));
    }
  }
  return found;
}

/// What no device does, so that a slip of the unit is told. Per second: bytes from 100 MB/s to 100 TB/s,
/// operations from 100 MFLOP/s to 100 PFLOP/s.
constexpr std::int64_t least_rate = 100'000'000;
constexpr std::int64_t most_bytes = 100'000'000'000'000;
constexpr std::int64_t most_operations = 100'000'000'000'000'000;
constexpr const char* withdrawn = "none";

std::int64_t rate_of(const std::string& text, bool of_work) {
  if (text == withdrawn) return no_ceiling;
  std::int64_t rate = 0;
  if (!of_work) {
    rate = parse_rate("RATE", text);
  } else if (const auto operations = parse_operations(text)) {
    rate = *operations;
  } else {
    throw Error(
        ErrorCode::invalid,
        fmt::format("db peak: RATE `{}`: with --dtype give operations a second, above zero, as 989TFLOP/s",
                    text));
  }
  if (rate < least_rate || rate > (of_work ? most_operations : most_bytes))
    throw Error(ErrorCode::invalid,
                fmt::format("db peak: RATE `{}`: no device does that; give {}", text,
                            of_work ? "100MFLOP/s to 100000TFLOP/s" : "100MB/s to 100TB/s"));
  return rate;
}

std::string rate_text(std::int64_t rate, bool of_work) {
  if (rate == no_ceiling) return "none given any more";
  const double unit = of_work ? 1e12 : 1e9;
  return fmt::format("{} {}", number_text(static_cast<double>(rate) / unit), of_work ? "TFLOP/s" : "GB/s");
}

}  // namespace

int database_peak(const Arguments& arguments) {
  Options options(
      "db peak", "DEVICE RATE", "hone db peak H200 4800GB/s",
      "Gives the peak of a tuned device's memory, bytes read and written a second, from its data sheet or "
      "another benchmark; `none` withdraws what was given. `hone query ladder` shows throughputs as parts of "
      "the peak given last; without one, of the most that the family copy reached. With --dtype, the peak of "
      "operations on a type, as 989TFLOP/s. `hone tune` leaves out configurations that given peaks show "
      "cannot win: never give less than the device can do.");
  add_type_flag(options);
  add_database_flag(options);
  if (!options.parse(arguments, 2, 2)) return exit_done;
  const std::vector<std::string> types = element_types_of(options);
  const std::int64_t rate = rate_of(options.positional()[1], !types.empty());

  // Read first: what cannot be done leaves the file as it is, and makes none of an empty one.
  const std::filesystem::path file = database_of(options);
  db::Store reading = db::Store::open(file, db::Access::read_only);
  const auto devices = devices_alike(reading, options.positional()[0]);
  Peaks peaks(reading);
  db::Store store = db::Store::open(file, db::Access::read_write);
  for (const auto& [id, device] : devices) {
    const std::string name = device.name + " " + device.architecture;
    if (types.empty()) {
      const auto measured = peaks.measured(device);
      store.put_peak({id, "memory", rate});
      write_out(fmt::format("{}: {}\n", name, rate_text(rate, false)));
      if (measured && measured->gb_per_s * 1e9 > static_cast<double>(rate))
        write_error(
            fmt::format("{}: {} is more than this peak; `hone db peak` corrects it", name, measured->text()));
    }
    for (const std::string& type : types) {
      store.put_peak({id, tuner::peak_of_work(type), rate});
      write_out(fmt::format("{} {}: {}\n", name, type, rate_text(rate, true)));
    }
  }
  return exit_done;
}

}  // namespace hone::tools
