#include "tuner/worker.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <map>

#include "tuner/channel.hpp"
#include "tuner/measure_session.hpp"

namespace hone::tuner {

namespace {

/// Serves both kinds of worker: one that is asked to compile opens a compiler, one that measures a device.
class Service {
 public:
  explicit Service(Channel channel) : channel_(std::move(channel)) {}

  void serve() {
    while (auto frame = channel_.receive()) answer(*frame);
  }

 private:
  template <class Message>
  void reply(Message message) {
    channel_.send(Kind::reply, message);
  }

  void answer(const Channel::Frame& frame) {
    switch (frame.kind) {
      case Kind::compile:
        return reply(compile(decode<CompileRequest>(frame.payload)));
      case Kind::open:
        return reply(guarded(
            [&] { session_ = std::make_unique<MeasureSession>(decode<OpenRequest>(frame.payload)); }));
      case Kind::problem:
        return reply(session().set_problem(decode<ProblemRequest>(frame.payload)));
      case Kind::look:
        return reply(session().look(decode<LookRequest>(frame.payload)));
      case Kind::load:
        return reply(guarded([&] { session().load(decode<LoadRequest>(frame.payload)); }));
      case Kind::round:
        return round(decode<RoundRequest>(frame.payload));
      case Kind::recheck:
        return reply(session().recheck(decode<RecheckRequest>(frame.payload)));
      case Kind::drop:
        return session().drop(decode<DropRequest>(frame.payload).slots);
      case Kind::sample:
      case Kind::reply:
        break;
    }
    throw std::runtime_error("a worker was sent something that is no request");
  }

  template <class Body>
  Reply guarded(const Body& body) {
    try {
      body();
      return {};
    } catch (const std::exception& error) {
      return {false, error.what()};
    }
  }

  MeasureSession& session() {
    if (session_ == nullptr)
      throw std::runtime_error("a worker was asked to measure before its device was opened");
    return *session_;
  }

  void round(const RoundRequest& request) {
    for (std::size_t i = 0; i < request.slots.size(); ++i) {
      Sample sample =
          session().sample(request.slots[i], request.launches[i], request.warm_ups, request.placement);
      channel_.send(Kind::sample, sample);
    }
  }

  CompileReply compile(const CompileRequest& request) {
    CompileReply result;
    std::unique_ptr<Compiler>& compiler = compilers_[request.job.backend];
    try {
      if (compiler == nullptr) compiler = open_compiler(request.job.backend);
    } catch (const Error& error) {
      result.compiler_usable = false;
      result.log = error.what();
      return result;
    }
    CompileResult compiled = compiler->compile(request.job);
    result.ok = compiled.ok;
    result.object = std::move(compiled.object);
    result.log = std::move(compiled.log);
    result.resources = compiled.resources;
    result.compiler = compiler->version();
    result.build_key =
        build_key(request.job, compiler->options(request.job.architecture), compiler->version());
    return result;
  }

  Channel channel_;
  std::map<Backend, std::unique_ptr<Compiler>> compilers_;
  std::unique_ptr<MeasureSession> session_;
};

}  // namespace

int run_worker(int socket) {
  std::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == 1) return 1;
  try {
    Service(Channel(socket)).serve();
    return 0;
  } catch (const std::exception& error) {
    // Read by the coordinator from the worker's stderr, as the reason for its end.
    const std::string line = std::string(error.what()) + "\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    return 1;
  }
}

}  // namespace hone::tuner
