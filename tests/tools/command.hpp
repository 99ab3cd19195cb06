// Runs the built `hone` as its users do: a process with arguments, an environment of its own, and what it
// wrote.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hone::test {

/// A folder of its own, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path path;
};

struct Ended {
  int code = -1;                    ///< exit code, or 128 + the signal that ended it
  std::string out;                  ///< stdout
  std::string err;                  ///< stderr
  std::string notes() const;        ///< stderr as if it were endlessly wide
  std::size_t error_lines() const;  ///< of that
};

/// One process; killed when destroyed.
class Command {
 public:
  /// `folder` is its user data folder (XDG_DATA_HOME); HONE_DB and HONE_TEMPLATES are unset unless
  /// `variables` sets them.
  Command(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
          const std::map<std::string, std::string>& variables = {});
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  void signal(int number) const;
  Ended wait();

 private:
  pid_t pid_ = -1;
  std::filesystem::path out_, err_;
};

Ended run_hone(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
               const std::map<std::string, std::string>& variables = {});

/// What a shell's command writes.
std::string output_of(const std::string& command);

std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, const std::string& text);

}  // namespace hone::test
