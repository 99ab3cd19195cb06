// hone db pack: one read-only file with what calls on a device are served from.
#include <fmt/format.h>

#include "db/store.hpp"
#include "runtime/bytes.hpp"
#include "runtime/plural.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/output_file.hpp"
#include "tools/recorded_devices.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {

int database_pack(const Arguments& arguments) {
  Options options(
      "db pack", "", "hone db pack --device H200 -o model.hone",
      "Writes one read-only file with the winners, bands, defaults, templates and code objects that calls on "
      "a device need, and the records behind them. Applications open it as they open a database, on "
      "read-only "
      "media and from many processes at once, and pick the same.");
  options
      .value("device", "D",
             "the tuned devices of this backend, architecture or part of a name, or the one of this index in "
             "`hone "
             "devices`; or all")
      .value("output,o", "FILE", "the file to write, which must not exist");
  add_database_flag(options);
  if (!options.parse(arguments, 0, 0)) return exit_done;
  if (!options.has("device") || !options.has("output"))
    throw Error(ErrorCode::invalid,
                "db pack: give the device and the file, as in `hone db pack --device H200 -o model.hone`");
  const std::filesystem::path to = options.get("output", "");
  require_new_file(to);

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  std::vector<db::Id> devices;
  for (const auto& [id, device] : devices_called(store, "--device", options.get("device", "")))
    devices.push_back(id);
  store.pack(devices, to);

  db::Store pack = db::Store::open(to, db::Access::read_only);
  const auto winners = pack.winners({}).size(), bands = pack.bands({}).size();
  const std::int64_t portfolios = db::portfolios_of(pack.portfolio({}));
  std::size_t defaults = 0;
  for (const db::Id& device : devices) defaults += pack.defaults(device).size();
  write_out(fmt::format("{}: {}, {}, {}, {}, {}\n", to.string(), plural(winners, "winner"),
                        plural(bands, "band"), plural(portfolios, "portfolio"), plural(defaults, "default"),
                        bytes_text(static_cast<double>(std::filesystem::file_size(to)))));
  if (winners + bands + defaults > 0) return exit_done;
  write_error("hone: nothing was tuned for the device: the pack answers no call");
  return exit_failed;
}

}  // namespace hone::tools
