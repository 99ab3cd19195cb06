#include "runtime/host_compiler.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "db/folder.hpp"
#include "runtime/host_device.hpp"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace hone {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words(const char* text) {
  std::istringstream stream(text == nullptr ? "" : text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

constexpr std::string_view folder_prefix = "hone-compile-";

/// A descriptor of the folder that holds its lock; negative when another process does.
int lock_folder(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  close(descriptor);
  return -1;
}

/// In a place where everybody writes, others may put links and folders under such names.
bool is_own_folder(const fs::path& path) {
  struct stat found {};
  return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid();
}

/// Removes the folders of processes that were killed: nobody holds their lock. One just made may not be
/// locked yet.
void remove_left_behind() {
  std::error_code ignored;
  const auto recent = fs::file_time_type::clock::now() - std::chrono::minutes(1);
  for (fs::directory_iterator entry(db::temporary_folder(), ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    std::error_code error;
    if (!entry->path().filename().string().starts_with(folder_prefix) || !is_own_folder(entry->path()) ||
        entry->last_write_time(error) > recent || error)
      continue;
    const int descriptor = lock_folder(entry->path());
    if (descriptor < 0) continue;
    fs::remove_all(entry->path(), error);
    close(descriptor);
  }
}

/// A folder that only this user can read, removed with what is in it; locked, so that others know that it is
/// used.
class PrivateFolder {
 public:
  PrivateFolder() {
    const fs::path parent = db::temporary_folder();
    std::string path = (parent / (std::string(folder_prefix) + "XXXXXX")).string();
    if (mkdtemp(path.data()) == nullptr) {
      throw Error(ErrorCode::environment,
                  fmt::format("cannot make a folder in {}: {}; set TMPDIR to a writable one", parent.string(),
                              std::strerror(errno)));
    }
    path_ = path;
    lock_ = lock_folder(path_);
  }
  ~PrivateFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    if (lock_ >= 0) close(lock_);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
  int lock_ = -1;
};

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct Finished {
  int status = -1;      ///< exit status; -1: did not start or was killed
  std::string why;      ///< when -1
  bool killed = false;  ///< by SIGKILL
};

/// Runs a command without a shell; its output and errors go to `output`.
Finished run(const std::vector<std::string>& command, const fs::path& output) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  // In a process group of its own: a terminal's Ctrl-C is for whoever asked, and no fault of the source.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = 0;
  const int error = posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return {-1, std::strerror(error)};

  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return {-1, std::strerror(errno)};
  }
  if (WIFEXITED(status)) return {WEXITSTATUS(status), ""};
  return {-1, fmt::format("ended by signal {}", WTERMSIG(status)), WTERMSIG(status) == SIGKILL};
}

/// The diagnostics, headed by the first line that says why.
std::string error_first(const std::string& log) {
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) {
    if (line.find("error:") == std::string::npos) continue;
    return log.starts_with(line) ? log : line + "\n" + log;
  }
  return log;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

class HostCompiler : public Compiler {
 public:
  HostCompiler() {
    remove_left_behind();
    for (const char* variable : {"HONE_CXX", "CXX"}) {
      command_ = words(std::getenv(variable));
      if (command_.empty()) continue;
      if (const std::string why = identify(); !why.empty()) {
        throw Error(ErrorCode::environment, fmt::format("{}={}: {}; set it to a C++20 compiler or unset it",
                                                        variable, fmt::join(command_, " "), why));
      }
      return;
    }
    for (const char* name : {"c++", "g++", "clang++"}) {
      command_ = {name};
      if (identify().empty()) return;
    }
    throw Error(ErrorCode::environment,
                "no C++ compiler (c++, g++ or clang++) in PATH; install g++ or set HONE_CXX to one");
  }

  const std::string& version() const noexcept override { return version_; }

  std::vector<std::string> options(const std::string& architecture) const override {
    std::vector<std::string> result{"-std=c++20", "-O3", "-fPIC", "-shared", "-w"};
    if (architecture == "x86-64-v1") {
      result.emplace_back("-march=x86-64");
    } else if (architecture.starts_with("x86-64")) {
      result.push_back("-march=" + architecture);
    }
    for (std::string& word : words(std::getenv("HONE_HOST_CXXFLAGS"))) result.push_back(std::move(word));
    return result;
  }

  CompileResult compile(const CompileJob& job) override {
    const PrivateFolder folder;
    const fs::path source = folder / "kernel.cpp";
    const fs::path object = folder / "kernel.so";
    const fs::path output = folder / "log.txt";
    std::ofstream file(source, std::ios::binary);
    file << job.source;
    file.close();
    CompileResult result;
    if (!file) {
      result.log = fmt::format("cannot write {}; is the disk full?", source.string());
      return result;
    }

    std::vector<std::string> command = command_;
    for (std::string& option : options(job.architecture)) command.push_back(std::move(option));
    command.insert(command.end(), {"-o", object.string(), source.string()});
    Finished finished = run(command, output);
    if (finished.killed) finished = run(command, output);  // by somebody else: no fault of the source either
    result.log = error_first(read_text(output));
    if (finished.status != 0) {
      if (finished.status < 0)
        result.log = fmt::format("{}: {}\n{}", command_.front(), finished.why, result.log);
      if (result.log.empty())
        result.log = fmt::format("{} ended with status {}", command_.front(), finished.status);
      return result;
    }
    const std::string bytes = read_text(object);
    const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
    result.object.assign(first, first + bytes.size());
    result.ok = !result.object.empty();
    if (!result.ok) result.log = fmt::format("{} wrote no object", command_.front());
    return result;
  }

 private:
  /// Reads the compiler's version; says why that failed, or nothing.
  std::string identify() {
    const PrivateFolder folder;
    const fs::path output = folder / "version.txt";
    const auto ask = [&](const char* option) -> std::pair<std::string, std::string> {
      std::vector<std::string> command = command_;
      command.emplace_back(option);
      const Finished finished = run(command, output);
      if (finished.status == 0) return {first_line(read_text(output)), ""};
      return {"", finished.status < 0 ? finished.why
                                      : fmt::format("{} ended with status {}", option, finished.status)};
    };
    const auto [banner, why] = ask("--version");
    if (!why.empty()) return why;
    const bool clang = banner.find("clang") != std::string::npos;
    std::string number;
    if (clang) {
      const auto at = banner.find("version ");
      if (at != std::string::npos)
        number = banner.substr(at + 8, banner.find_first_of(" -(", at + 8) - at - 8);
    } else {
      number = ask("-dumpfullversion").first;
    }
    if (number.empty())
      return fmt::format("its --version says \"{}\", which is neither GCC's nor clang's", banner);
    version_ = (clang ? "clang++ " : "g++ ") + number;
    return "";
  }

  std::vector<std::string> command_;
  std::string version_;
};

}  // namespace

std::unique_ptr<Compiler> open_host_compiler() {
  return std::make_unique<HostCompiler>();
}

std::vector<std::byte> compile_host_library(const std::string& source) {
  CompileJob job;
  job.architecture = host_device_info().architecture;
  job.source = source;
  CompileResult result = open_host_compiler()->compile(job);
  if (!result.ok) {
    throw Error(ErrorCode::invalid,
                fmt::format("a host library does not compile: {}", first_line(result.log)));
  }
  return std::move(result.object);
}

}  // namespace hone
