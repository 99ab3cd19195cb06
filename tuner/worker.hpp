// The other end of compile and measuring workers: `hone worker` runs this on the socket it inherited.
#pragma once

namespace hone::tuner {

/// Serves requests from `socket` until it closes; the process's exit status.
int run_worker(int socket);

}  // namespace hone::tuner
