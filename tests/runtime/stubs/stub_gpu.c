/* A driver without a GPU, for tests: libcuda (no STUB_ROCM; STUB_CUDA, where defined, of that version and without what
 * came later) or libamdhip64 of ROCm STUB_ROCM. Memory is the host's, the
 * kernels are three built-in functions, and time is a counter that every launch advances. It is stricter than a driver
 * where that finds mistakes: calls need a current context, and handles must be alive. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef STUB_ROCM
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif
#define API __attribute__((visibility("default")))

enum {
  ok = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  invalid_handle = 400,
  not_found = 500,
  illegal_address = 700,
  capture_unsupported = 900
};
enum { launch_ns = 2000, overlapping_launch_ns = 1500, graph_ns = 50000, upload_ns = 7000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialised;
static int sticky;            /* what every call returns after a crash */
static int last_error;
static long long now_ns;
static long launches;
static long waits;            /* for the whole device */
static long alive;            /* objects and allocations not given back */
static long encodes;          /* of tensor maps */
static struct stub_launch {
  unsigned cluster[3];
  int overlap;
} last_launch;
static char failing[64];      /* the call that fails next */
static int failing_status;

#define LOCKED(expression)      \
  do {                          \
    pthread_mutex_lock(&lock);  \
    expression;                 \
    pthread_mutex_unlock(&lock);\
  } while (0)

static int verdict(const char* call) {
  int status;
  LOCKED(status = sticky; if (!status && !initialised) status = not_initialized;
         if (!status && failing_status && strcmp(failing, call) == 0) {
           status = failing_status;
           failing_status = 0;
         } if (status) last_error = status);
  return status;
}
#define BEGIN                                 \
  do {                                        \
    int status_ = verdict(__func__);          \
    if (status_) return status_;              \
  } while (0)
#define BEGIN_CURRENT                               \
  do {                                              \
    BEGIN;                                          \
    if (!is_current()) return invalid_context;      \
  } while (0)

/* What tests steer and read. */
API void stub_fail_next(const char* call, int status) {
  LOCKED(strncpy(failing, call, sizeof failing - 1); failing_status = status);
}
API long stub_launches(void) {
  long value;
  LOCKED(value = launches);
  return value;
}
API long stub_waits(void) {
  long value;
  LOCKED(value = waits);
  return value;
}
API long stub_encodes(void) {
  long value;
  LOCKED(value = encodes);
  return value;
}
API const struct stub_launch* stub_last_launch(void) { return &last_launch; }
API long stub_alive(void) {
  long value;
  LOCKED(value = alive);
  return value;
}
API int stub_last_error(void) {
  int value;
  LOCKED(value = last_error);
  return value;
}
API void stub_heal(void) { LOCKED(sticky = 0; last_error = 0; failing_status = 0); }
static void count(long change) { LOCKED(alive += change); }

/* The device. */
struct device {
  const char* name;
  const char* bus;
  const char* architecture;
  size_t memory;
  int units, threads, warp, l2, shared, shared_optin, major, minor;
};
static const struct device the_device =
#if !defined(STUB_ROCM)
    {"Stub H200", "0000:19:00.0", "", 150754820096u, 132, 1024, 32, 62914560, 49152, 232448, 9, 0};
#elif STUB_ROCM == 5
    {"Stub MI210", "0000:c1:00.0", "gfx90a:sramecc+:xnack-", 68702699520u, 104, 1024, 64, 8388608, 65536, 0, 9, 0};
#elif STUB_ROCM == 6
    {"Stub MI300X", "0000:c1:00.0", "gfx942:sramecc+:xnack-", 206141652992u, 304, 1024, 64, 4194304, 65536, 65536, 9, 4};
#else
    {"Stub MI350X", "0000:c1:00.0", "gfx950:sramecc+:xnack-", 309220868096u, 256, 1024, 64, 4194304, 163840, 163840, 9, 5};
#endif

API int NAME(cuInit, hipInit)(unsigned flags) {
  LOCKED(initialised = 1);
  BEGIN;
  return flags == 0 ? ok : invalid_value;
}
API int NAME(cuDriverGetVersion, hipDriverGetVersion)(int* version) {
#if defined(STUB_CUDA)
  *version = STUB_CUDA;
#elif !defined(STUB_ROCM)
  *version = 13000;
#elif STUB_ROCM == 5
  *version = 50221153;
#elif STUB_ROCM == 6
  *version = 60241134;
#else
  *version = 70051831;
#endif
  return ok;
}
API int NAME(cuDeviceGetCount, hipGetDeviceCount)(int* value) {
  BEGIN;
  *value = 2; /* the second is not used; a caller has it current */
  return ok;
}
API int NAME(cuDeviceGet, hipDeviceGet)(int* device, int index) {
  BEGIN;
  if (index < 0 || index > 1) return invalid_device;
  *device = index;
  return ok;
}
API int NAME(cuDeviceGetName, hipDeviceGetName)(char* name, int length, int device) {
  BEGIN;
  if (device < 0 || device > 1 || length <= 0) return invalid_value;
  strncpy(name, the_device.name, (size_t)length);
  return ok;
}
API int NAME(cuDeviceTotalMem_v2, hipDeviceTotalMem)(size_t* bytes, int device) {
  BEGIN;
  (void)device;
  *bytes = the_device.memory;
  return ok;
}
API int NAME(cuDeviceGetPCIBusId, hipDeviceGetPCIBusId)(char* text, int length, int device) {
  BEGIN;
  (void)device;
  strncpy(text, the_device.bus, (size_t)length);
  return ok;
}
API int NAME(cuDeviceGetAttribute, hipDeviceGetAttribute)(int* value, int attribute, int device) {
  BEGIN;
  (void)device;
  switch (attribute) {
#ifndef STUB_ROCM
    case 16: *value = the_device.units; return ok;
    case 1: *value = the_device.threads; return ok;
    case 10: *value = the_device.warp; return ok;
    case 38: *value = the_device.l2; return ok;
    case 8: *value = the_device.shared; return ok;
    case 97: *value = the_device.shared_optin; return ok;
    case 75: *value = the_device.major; return ok;
    case 76: *value = the_device.minor; return ok;
#else
    /* hipDeviceAttribute_t since ROCm 5.0. */
    case 63: *value = the_device.units; return ok;
    case 56: *value = the_device.threads; return ok;
    case 87: *value = the_device.warp; return ok;
    case 19: *value = the_device.l2; return ok;
    case 74: *value = the_device.shared; return ok;
    case 75:
      if (the_device.shared_optin == 0) break; /* ROCm 5 does not know it */
      *value = the_device.shared_optin;
      return ok;
    case 23: *value = the_device.major; return ok;
    case 61: *value = the_device.minor; return ok;
#endif
    default: break;
  }
  LOCKED(last_error = invalid_value);
  return invalid_value;
}

/* Contexts: CUDA's by handle, HIP's by device. */
#ifndef STUB_ROCM
static char contexts[2];
static _Thread_local void* current;
static int is_current(void) { return current == &contexts[0]; }
API int cuDevicePrimaryCtxRetain(void** context, int device) {
  BEGIN;
  *context = &contexts[device];
  count(1);
  return ok;
}
API int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  count(-1);
  return ok;
}
API int cuCtxGetCurrent(void** context) {
  BEGIN;
  *context = current;
  return ok;
}
API int cuCtxSetCurrent(void* context) {
  BEGIN;
  current = context;
  return ok;
}
API int cuGetErrorName(int status, const char** text) {
  switch (status) {
    case invalid_value: *text = "CUDA_ERROR_INVALID_VALUE"; return ok;
    case out_of_memory: *text = "CUDA_ERROR_OUT_OF_MEMORY"; return ok;
    case not_found: *text = "CUDA_ERROR_NOT_FOUND"; return ok;
    case illegal_address: *text = "CUDA_ERROR_ILLEGAL_ADDRESS"; return ok;
    case capture_unsupported: *text = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"; return ok;
    default: return invalid_value;
  }
}
API int cuGetErrorString(int status, const char** text) {
  if (status == illegal_address) *text = "an illegal memory access was encountered";
  else return invalid_value;
  return ok;
}
#else
static _Thread_local int current;
static int is_current(void) { return current == 0; }
API int hipRuntimeGetVersion(int* version) { return hipDriverGetVersion(version); }
API int hipGetDevice(int* device) {
  BEGIN;
  *device = current;
  return ok;
}
API int hipSetDevice(int device) {
  BEGIN;
  if (device < 0 || device > 1) return invalid_device;
  current = device;
  return ok;
}
API const char* hipGetErrorName(int status) {
  return status == illegal_address ? "hipErrorIllegalAddress" : status == invalid_value ? "hipErrorInvalidValue"
         : status == not_found     ? "hipErrorNotFound"      : "hipErrorUnknown";
}
API const char* hipGetErrorString(int status) { return hipGetErrorName(status); }
API int hipGetLastError(void) {
  int value;
  LOCKED(value = last_error; last_error = 0);
  return value;
}
/* The two layouts of hipDeviceProp_t, as far as their size and the place of gcnArchName go; the rest is noise, so
 * that nothing else can be read from it by chance. */
static int properties(char* out, size_t size, size_t architecture_at, int device) {
  if (device < 0 || device > 1) return invalid_device;
  memset(out, 0xa5, size);
  memset(out, 0, 256);
  strcpy(out, the_device.name);
  memset(out + architecture_at, 0, 256);
  strcpy(out + architecture_at, the_device.architecture);
  return ok;
}
#if STUB_ROCM < 7
API int hipGetDeviceProperties(char* out, int device) { return properties(out, 792, 396, device); }
#endif
#if STUB_ROCM > 5
API int hipGetDevicePropertiesR0600(char* out, int device) { return properties(out, 1472, 1160, device); }
#endif
#endif

/* Kernels: `add` (out, a, b, n); `add_by_maps` (tensor maps of a and b, out, n, workspace), which counts its launches
 * behind the workspace's zeros; `crash`. */
enum { kernel_count = 3, workspace_zeros = 16384 };
struct kernel {
  const char* name;
  int shared_limit;
  int used_shared;
};
struct module {
  struct kernel kernels[kernel_count];
};
/* What a tensor map has of its 128 bytes; gpu_stub.hpp knows it too. */
struct tensor_map {
  void* address;
  uint64_t extent[5], stride[4];
  uint32_t box[5];
  uint8_t type, rank, swizzle, promotion;
};
struct call {
  struct kernel* kernel;
  float* out;
  const float* a;
  const float* b;
  int n;
  struct stub_launch launch;
  unsigned* counter;
};
enum { node_call, node_event, node_graph };
struct event {
  long long at_ns;
  int recorded;
};
struct graph;
struct node {
  int kind;
  struct call call;
  struct event* event;
  struct graph* child;
  struct node* next;
};
struct graph {
  struct node* first;
  struct node* last;
  int broken;
};
struct stream {
  struct graph* capturing;
};

static void run_call(const struct call* call) {
  LOCKED(++launches; last_launch = call->launch;
         now_ns += call->launch.overlap ? overlapping_launch_ns : launch_ns);
  if (strcmp(call->kernel->name, "crash") == 0) {
    LOCKED(sticky = illegal_address);
    return;
  }
  for (int i = 0; i < call->n; ++i) call->out[i] = call->a[i] + call->b[i];
  if (call->counter) LOCKED(++*call->counter);
}
static void append(struct graph* graph, struct node node) {
  struct node* copy = malloc(sizeof *copy);
  *copy = node;
  copy->next = NULL;
  if (graph->last) graph->last->next = copy;
  else graph->first = copy;
  graph->last = copy;
}
static struct graph* copy_graph(const struct graph* graph) {
  struct graph* copy = calloc(1, sizeof *copy);
  for (struct node* node = graph->first; node; node = node->next) {
    struct node next = *node;
    if (node->child) next.child = copy_graph(node->child);
    append(copy, next);
  }
  return copy;
}
static void free_graph(struct graph* graph) {
  for (struct node* node = graph->first; node;) {
    struct node* next = node->next;
    if (node->child) free_graph(node->child);
    free(node);
    node = next;
  }
  free(graph);
}
static void run_graph(const struct graph* graph) {
  for (struct node* node = graph->first; node; node = node->next) {
    if (node->kind == node_call) run_call(&node->call);
    if (node->kind == node_graph) run_graph(node->child);
    if (node->kind == node_event) LOCKED(node->event->at_ns = now_ns; node->event->recorded = 1);
  }
}

API int NAME(cuMemAlloc_v2, hipMalloc)(void** memory, size_t bytes) {
  BEGIN_CURRENT;
  if (bytes == 0) return invalid_value;
  if (bytes > ((size_t)1 << 30)) return out_of_memory;
  *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  count(1);
  return ok;
}
API int NAME(cuMemFree_v2, hipFree)(void* memory) {
  BEGIN_CURRENT;
  free(memory);
  count(-1);
  return ok;
}
API int NAME(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync)(void* to, const void* from, size_t bytes, void* stream) {
  BEGIN_CURRENT;
  if (!stream) return invalid_handle;
  memcpy(to, from, bytes);
  return ok;
}
API int NAME(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync)(void* to, const void* from, size_t bytes, void* stream) {
  BEGIN_CURRENT;
  if (!stream) return invalid_handle;
  memcpy(to, from, bytes);
  return ok;
}
API int NAME(cuMemsetD8Async, hipMemsetD8Async)(void* to, unsigned char value, size_t bytes, void* stream) {
  BEGIN_CURRENT;
  if (!stream) return invalid_handle;
  memset(to, value, bytes);
  return ok;
}

API int NAME(cuModuleLoadData, hipModuleLoadData)(void** module, const void* image) {
  BEGIN_CURRENT;
  if (memcmp(image, "\177ELF", 4) != 0) return invalid_image;
  struct module* loaded = calloc(1, sizeof *loaded);
  loaded->kernels[0] = (struct kernel){"add", 49152, 1024};
  loaded->kernels[1] = (struct kernel){"crash", 49152, 0};
  loaded->kernels[2] = (struct kernel){"add_by_maps", 49152, 1024};
  *module = loaded;
  count(1);
  return ok;
}
API int NAME(cuModuleUnload, hipModuleUnload)(void* module) {
  BEGIN_CURRENT;
  free(module);
  count(-1);
  return ok;
}
API int NAME(cuModuleGetFunction, hipModuleGetFunction)(void** function, void* module, const char* name) {
  BEGIN_CURRENT;
  struct module* loaded = module;
  for (int i = 0; i < kernel_count; ++i) {
    if (strcmp(loaded->kernels[i].name, name) == 0) {
      *function = &loaded->kernels[i];
      return ok;
    }
  }
  LOCKED(last_error = not_found);
  return not_found;
}
API int NAME(cuFuncGetAttribute, hipFuncGetAttribute)(int* value, int attribute, void* function) {
  BEGIN_CURRENT;
  switch (attribute) {
    case 0: *value = the_device.threads; return ok;
    case 1: *value = ((struct kernel*)function)->used_shared; return ok;
    case 4: *value = 32; return ok; /* registers a thread */
    default: return invalid_value;
  }
}
#ifndef STUB_ROCM
API int cuFuncSetAttribute(void* function, int attribute, int value) {
  BEGIN_CURRENT;
  struct kernel* kernel = function;
  if (attribute != 8 || value + kernel->used_shared > the_device.shared_optin) return invalid_value;
  kernel->shared_limit = value;
  return ok;
}
#endif
static int launch(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                  unsigned shared, void* stream, void** parameters, void** extra, struct stub_launch how) {
  struct kernel* kernel = function;
  if (extra || !gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024) return invalid_value;
#ifndef STUB_ROCM
  if ((int)shared > kernel->shared_limit) return invalid_value;
#else
  if ((int)shared > the_device.shared) return invalid_value;
#endif
  if (gx % how.cluster[0] || gy % how.cluster[1] || gz % how.cluster[2]) return invalid_value;
  struct call call = {kernel, NULL, NULL, NULL, 0, how, NULL};
  if (strcmp(kernel->name, "add") == 0) {
    call.out = *(float**)parameters[0];
    call.a = *(float**)parameters[1];
    call.b = *(float**)parameters[2];
    call.n = *(int*)parameters[3];
  }
  if (strcmp(kernel->name, "add_by_maps") == 0) {
    if ((uintptr_t)parameters[0] % 64 || (uintptr_t)parameters[1] % 64) return invalid_value;
    call.a = ((struct tensor_map*)parameters[0])->address;
    call.b = ((struct tensor_map*)parameters[1])->address;
    call.out = *(float**)parameters[2];
    call.n = *(int*)parameters[3];
    call.counter = *(unsigned**)parameters[4] + workspace_zeros / sizeof(unsigned);
  }
  struct stream* target = stream;
  if (target && target->capturing) append(target->capturing, (struct node){node_call, call, NULL, NULL, NULL});
  else run_call(&call);
  return ok;
}
API int NAME(cuLaunchKernel, hipModuleLaunchKernel)(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                                    unsigned by, unsigned bz, unsigned shared, void* stream,
                                                    void** parameters, void** extra) {
  BEGIN_CURRENT;
  return launch(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra,
                (struct stub_launch){{1, 1, 1}, 0});
}
#if !defined(STUB_ROCM) && !defined(STUB_CUDA)
struct launch_attribute {
  int id;
  int padding;
  unsigned value[16];
};
struct launch_configuration {
  unsigned grid[3], block[3], shared;
  void* stream;
  struct launch_attribute* attributes;
  unsigned attribute_count;
};
/* Nothing said, said twice, or unknown is a mistake. */
static int read_attributes(const struct launch_configuration* c, struct stub_launch* how) {
  enum { cluster_dimension = 4, programmatic_stream_serialization = 6, largest_cluster = 8 };
  int clusters = 0;
  *how = (struct stub_launch){{1, 1, 1}, 0};
  for (unsigned i = 0; i < c->attribute_count; ++i) {
    const unsigned* value = c->attributes[i].value;
    if (c->attributes[i].id == cluster_dimension && !clusters++) {
      const unsigned blocks = value[0] * value[1] * value[2];
      if (blocks < 1 || blocks > largest_cluster) return invalid_value;
      memcpy(how->cluster, value, sizeof how->cluster);
    } else if (c->attributes[i].id == programmatic_stream_serialization && value[0] == 1 && !how->overlap) {
      how->overlap = 1;
    } else {
      return invalid_value;
    }
  }
  return c->attribute_count ? ok : invalid_value;
}
API int cuLaunchKernelEx(const struct launch_configuration* c, void* function, void** parameters, void** extra) {
  BEGIN_CURRENT;
  struct stub_launch how;
  const int status = read_attributes(c, &how);
  if (status) return status;
  return launch(function, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared,
                c->stream, parameters, extra, how);
}
/* Eight blocks share a group of units that has 512 KiB. */
API int cuOccupancyMaxActiveClusters(int* count, void* function, const struct launch_configuration* c) {
  BEGIN_CURRENT;
  struct stub_launch how;
  const int status = read_attributes(c, &how);
  if (status) return status;
  const unsigned blocks = how.cluster[0] * how.cluster[1] * how.cluster[2];
  if (blocks == 1) return invalid_value;
  const unsigned shared = blocks * (c->shared + (unsigned)((struct kernel*)function)->used_shared);
  *count = shared > (512u << 10) ? 0 : the_device.units / (int)blocks;
  return ok;
}
API int cuTensorMapEncodeTiled(void* map, int type, uint32_t rank, void* address, const uint64_t* extent,
                               const uint64_t* stride, const uint32_t* box, const uint32_t* step, int interleave,
                               int swizzle, int promotion, int fill) {
  BEGIN_CURRENT;
  LOCKED(++encodes);
  struct tensor_map made;
  memset(&made, 0, sizeof made);
  if ((uintptr_t)map % 64 || !address || (uintptr_t)address % 16 || type < 0 || type > 12 || rank < 1 || rank > 5 ||
      interleave || fill || swizzle < 0 || swizzle > 3 || promotion < 0 || promotion > 3)
    return invalid_value;
  for (uint32_t axis = 0; axis < rank; ++axis) {
    if (!extent[axis] || extent[axis] > (uint64_t)1 << 32 || !box[axis] || box[axis] > 256 || step[axis] != 1)
      return invalid_value;
    made.extent[axis] = extent[axis];
    made.box[axis] = box[axis];
    if (axis + 1 == rank) break;
    if (!stride[axis] || stride[axis] % 16 || stride[axis] >= (uint64_t)1 << 40) return invalid_value;
    made.stride[axis] = stride[axis];
  }
  made.address = address;
  made.type = (uint8_t)type;
  made.rank = (uint8_t)rank;
  made.swizzle = (uint8_t)swizzle;
  made.promotion = (uint8_t)promotion;
  memset(map, 0xa5, 128);
  memcpy(map, &made, sizeof made);
  return ok;
}
#endif

API int NAME(cuStreamCreate, hipStreamCreateWithFlags)(void** stream, unsigned flags) {
  BEGIN_CURRENT;
  if (flags > 1) return invalid_value;
  *stream = calloc(1, sizeof(struct stream));
  count(1);
  return ok;
}
API int NAME(cuStreamDestroy_v2, hipStreamDestroy)(void* stream) {
  BEGIN_CURRENT;
  struct stream* target = stream;
  if (target->capturing) {
    free_graph(target->capturing);
    count(-1);
  }
  free(target);
  count(-1);
  return ok;
}
API int NAME(cuStreamSynchronize, hipStreamSynchronize)(void* stream) {
  BEGIN_CURRENT;
  struct stream* target = stream;
  return target && target->capturing ? capture_unsupported : ok;
}
API int NAME(cuCtxSynchronize, hipDeviceSynchronize)(void) {
  BEGIN_CURRENT;
  LOCKED(++waits);
  return ok;
}
API int NAME(cuStreamIsCapturing, hipStreamIsCapturing)(void* stream, int* status) {
  BEGIN_CURRENT;
  struct stream* target = stream;
  *status = target && target->capturing;
  return ok;
}
API int NAME(cuEventCreate, hipEventCreateWithFlags)(void** event, unsigned flags) {
  BEGIN_CURRENT;
  if (flags != 0) return invalid_value;
  *event = calloc(1, sizeof(struct event));
  count(1);
  return ok;
}
API int NAME(cuEventDestroy_v2, hipEventDestroy)(void* event) {
  BEGIN_CURRENT;
  free(event);
  count(-1);
  return ok;
}
API int NAME(cuEventRecord, hipEventRecord)(void* event, void* stream) {
  BEGIN_CURRENT;
  (void)stream;
  struct event* target = event;
  LOCKED(target->at_ns = now_ns; target->recorded = 1);
  return ok;
}
API int NAME(cuEventSynchronize, hipEventSynchronize)(void* event) {
  BEGIN_CURRENT;
  return ((struct event*)event)->recorded ? ok : invalid_handle;
}
API int NAME(cuEventElapsedTime, hipEventElapsedTime)(float* milliseconds, void* start, void* stop) {
  BEGIN_CURRENT;
  const struct event* first = start;
  const struct event* last = stop;
  if (!first->recorded || !last->recorded) return invalid_handle;
  *milliseconds = (float)(last->at_ns - first->at_ns) / 1e6f;
  return ok;
}

API int NAME(cuStreamBeginCapture_v2, hipStreamBeginCapture)(void* stream, int mode) {
  BEGIN_CURRENT;
  struct stream* target = stream;
  if (!target || mode != 1 || target->capturing) return capture_unsupported;
  target->capturing = calloc(1, sizeof(struct graph));
  count(1);
  return ok;
}
API int NAME(cuStreamEndCapture, hipStreamEndCapture)(void* stream, void** graph) {
  BEGIN_CURRENT;
  struct stream* target = stream;
  if (!target->capturing) return invalid_value;
  *graph = target->capturing;
  target->capturing = NULL;
  return ok;
}
API int NAME(cuGraphCreate, hipGraphCreate)(void** graph, unsigned flags) {
  BEGIN_CURRENT;
  if (flags != 0) return invalid_value;
  *graph = calloc(1, sizeof(struct graph));
  count(1);
  return ok;
}
API int NAME(cuGraphAddEventRecordNode, hipGraphAddEventRecordNode)(void** node, void* graph, void* const* after,
                                                                    size_t before, void* event) {
  BEGIN_CURRENT;
  (void)after;
  struct graph* target = graph;
  if ((before == 0) != (target->first == NULL)) return invalid_value; /* the order must be said */
  append(target, (struct node){node_event, {0}, event, NULL, NULL});
  *node = target->last;
  return ok;
}
API int NAME(cuGraphAddChildGraphNode, hipGraphAddChildGraphNode)(void** node, void* graph, void* const* after,
                                                                  size_t before, void* child) {
  BEGIN_CURRENT;
  struct graph* target = graph;
  if (before != 1 || after[0] != target->last) return invalid_value;
  append(target, (struct node){node_graph, {0}, NULL, copy_graph(child), NULL});
  *node = target->last;
  return ok;
}
API int NAME(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags)(void** executable, void* graph,
                                                                        unsigned long long flags) {
  BEGIN_CURRENT;
  if (flags != 0) return invalid_value;
  *executable = copy_graph(graph);
  count(1);
  return ok;
}
#if !defined(STUB_ROCM) || STUB_ROCM > 5
API int NAME(cuGraphUpload, hipGraphUpload)(void* executable, void* stream) {
  BEGIN_CURRENT;
  if (!executable || !stream) return invalid_value;
  LOCKED(now_ns += upload_ns);
  return ok;
}
#endif
API int NAME(cuGraphLaunch, hipGraphLaunch)(void* executable, void* stream) {
  BEGIN_CURRENT;
  if (!stream) return invalid_handle;
  LOCKED(now_ns += graph_ns); /* a gap before the first node, which no timing may count */
  run_graph(executable);
  return ok;
}
API int NAME(cuGraphExecDestroy, hipGraphExecDestroy)(void* executable) {
  BEGIN_CURRENT;
  free_graph(executable);
  count(-1);
  return ok;
}
API int NAME(cuGraphDestroy, hipGraphDestroy)(void* graph) {
  BEGIN_CURRENT;
  free_graph(graph);
  count(-1);
  return ok;
}
