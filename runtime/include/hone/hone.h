/* hone's runtime library for C: opens tuning databases read-only, picks the best checked configuration for a
 * call and launches it. What hone.hpp says of shapes, units, ownership and threads holds here too.
 *
 * ABI rules: HONE_ABI_VERSION is the library's soname; within one, functions are only added, and structs,
 * which are passed by pointer, do not change, but that hone_options grows at its end, which its `size` tells:
 * a library takes the shorter one of an older caller, and of a newer caller's what it knows, while the rest
 * is zero. Every function that can fail returns a code, and takes an `error` that may be null; on failure it
 * is set to one line that the caller frees with hone_free, on success to null. Codes: 0 done, else one of
 * hone_code. Texts in other results belong to the runtime and live as long as it.
 */
#ifndef HONE_H
#define HONE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HONE_C_EXPORT __attribute__((visibility("default")))
#else
#define HONE_C_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_ABI_VERSION 1

enum hone_code {
  HONE_OK = 0,
  HONE_INVALID = 1,     /* bad input: a shape, an argument, a name */
  HONE_ENVIRONMENT = 2, /* no device, or the database cannot be used */
  HONE_NO_ANSWER = 3,   /* no checked configuration is legal for this call */
  HONE_DEVICE = 4,      /* the device or its driver reported an error */
  HONE_FAILED = 5
};

enum hone_regime { HONE_STEADY = 0, HONE_COLD = 1 };

enum hone_rung {
  HONE_RUNG_EXACT = 0,
  HONE_RUNG_BAND = 1,
  HONE_RUNG_PORTFOLIO = 2,
  HONE_RUNG_NEAREST = 3,
  HONE_RUNG_DEFAULT = 4,
  HONE_RUNG_NONE = 5
};

typedef struct hone_runtime hone_runtime;

/* Start from HONE_OPTIONS_INIT. Null texts and a null list take the defaults. */
typedef struct hone_options {
  size_t size;                  /* sizeof(hone_options) */
  const char* const* databases; /* files, in order */
  size_t database_count;
  const char* device;  /* index, backend, architecture or part of a name */
  int regime;          /* enum hone_regime */
  int allow_unchecked; /* serve defaults that were not checked on this device */
  int record_misses;   /* note problems that were not answered exactly */
  const char* misses_folder;
  size_t maximum_answers; /* problems whose answers are remembered; 0: the default */
  size_t maximum_modules; /* code objects that may be loaded in this process; 0: the default */
} hone_options;
#define HONE_OPTIONS_INIT \
  { sizeof(hone_options), 0, 0, 0, HONE_STEADY, 0, 1, 0, 0, 0 }

/* One family of one runtime: plain data, valid while the runtime lives. */
typedef struct hone_family {
  void* runtime;
  const void* family;
} hone_family;

/* Plain data, made by hone_make_problem for one runtime: copy it, keep it. */
typedef struct hone_problem {
  uint64_t words[13];
} hone_problem;

/* The answer to one call. Valid while its runtime lives. To be released with hone_pick_release, which costs
 * nothing but where the runtime remembers no more answers. */
typedef struct hone_pick {
  const void* answer;
  void* own;
} hone_pick;

/* A device pointer, or a scalar in the member of the type that the manifest states. */
typedef union hone_argument {
  const void* pointer;
  int64_t i64;
  int32_t i32;
  int8_t i8;
  uint8_t u8;
  uint16_t f16; /* its bits; bf16 likewise */
  float f32;
  double f64;
} hone_argument;

/* HONE_ABI_VERSION of the library, and its version as a text. */
HONE_C_EXPORT int hone_abi_version(void);
HONE_C_EXPORT const char* hone_version(void);

/* `options` may be null. */
HONE_C_EXPORT int hone_open(const hone_options* options, hone_runtime** runtime, char** error);
HONE_C_EXPORT void hone_close(hone_runtime* runtime);

HONE_C_EXPORT int hone_find_family(hone_runtime* runtime, const char* name, hone_family* family,
                                   char** error);

/* Dimensions in the manifest's order; strides at the end may be left out. `layout` may be null or empty. */
HONE_C_EXPORT int hone_make_problem(const hone_family* family, const char* element_type, const char* layout,
                                    const int64_t* dimensions, size_t dimension_count, hone_problem* problem,
                                    char** error);

/* `alignment`: bytes that every pointer of the call is aligned to, a power of two. A pick of HONE_RUNG_NONE
 * is no error until it is launched. */
HONE_C_EXPORT int hone_pick_problem(hone_runtime* runtime, const hone_problem* problem, size_t alignment,
                                    hone_pick* pick, char** error);
/* The same with the code loaded, so that launches are legal inside a stream capture. */
HONE_C_EXPORT int hone_prepare(hone_runtime* runtime, const hone_problem* problem, size_t alignment,
                               hone_pick* pick, char** error);
HONE_C_EXPORT void hone_pick_release(hone_pick* pick);

/* `stream`: a CUstream or hipStream_t, null for the default one. */
HONE_C_EXPORT int hone_launch(hone_runtime* runtime, const hone_pick* pick, const hone_argument* arguments,
                              size_t argument_count, void* stream, char** error);
/* Picks by the pointers' own alignment and launches. */
HONE_C_EXPORT int hone_run(hone_runtime* runtime, const hone_problem* problem, const hone_argument* arguments,
                           size_t argument_count, void* stream, char** error);

/* `changed` (may be null): whether a database had changed. */
HONE_C_EXPORT int hone_refresh(hone_runtime* runtime, int* changed, char** error);
HONE_C_EXPORT int hone_flush_misses(hone_runtime* runtime, char** error);

HONE_C_EXPORT int hone_pick_rung(const hone_pick* pick); /* enum hone_rung */
HONE_C_EXPORT const char* hone_rung_name(int rung);
HONE_C_EXPORT const char* hone_pick_configuration(const hone_pick* pick);
HONE_C_EXPORT const char* hone_pick_build_key(const hone_pick* pick);
/* Of the device's memory, lent to a launch as one argument more; 0: none is needed. */
HONE_C_EXPORT size_t hone_pick_workspace_bytes(const hone_pick* pick);
HONE_C_EXPORT const char* hone_pick_why(const hone_pick* pick);  /* HONE_RUNG_NONE: what to do; else empty */
HONE_C_EXPORT double hone_pick_median_ns(const hone_pick* pick); /* of the measurement behind it; 0: none */

HONE_C_EXPORT void hone_free(void* text);

#ifdef __cplusplus
}
#endif

#endif
