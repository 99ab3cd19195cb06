// hone db pack: one read-only file with what calls on a device are served from.
#include <fmt/format.h>

#include "db/store.hpp"
#include "runtime/bytes.hpp"
#include "runtime/spelling.hpp"
#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/flags.hpp"
#include "tools/output_file.hpp"
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
  options.value("device", "D", "the tuned devices of this backend, architecture or part of a name; or all")
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
  std::vector<std::string> known;
  const std::string choice = options.get("device", "");
  for (const auto& [id, device] : store.devices()) {
    known.push_back(device.name);
    if (is_called(device, choice)) devices.push_back(id);
  }
  if (devices.empty())
    throw Error(ErrorCode::invalid, fmt::format("--device: {} holds no device `{}`{}", store.file().string(),
                                                choice, suggestion(choice, known)));
  store.pack(devices, to);

  db::Store pack = db::Store::open(to, db::Access::read_only);
  const auto winners = pack.winners({}).size(), bands = pack.bands({}).size();
  const std::int64_t portfolios = db::portfolios_of(pack.portfolio({}));
  std::size_t defaults = 0;
  for (const db::Id& device : devices) defaults += pack.defaults(device).size();
  write_out(fmt::format("{}: {} winners, {} bands, {} portfolios, {} defaults, {}\n", to.string(), winners,
                        bands, portfolios, defaults,
                        bytes_text(static_cast<double>(std::filesystem::file_size(to)))));
  if (winners + bands + defaults > 0) return exit_done;
  write_error("hone: nothing was tuned for the device: the pack answers no call");
  return exit_failed;
}

}  // namespace hone::tools
