/* The C interface, used from C11. Returns 0, or the number of the line that went wrong. */
#include <string.h>

#include "hone/hone.h"

int use_c_interface(const char* database, char* text, size_t room);
int lend_a_workspace(const char* database, size_t expected, char* text, size_t room);

#define EXPECT(condition)              \
  do {                                 \
    if (!(condition)) return __LINE__; \
  } while (0)

int use_c_interface(const char* database, char* text, size_t room) {
  static _Alignas(16) float x[64], y[64];
  const char* databases[] = {database};
  hone_options options = HONE_OPTIONS_INIT;
  hone_runtime* runtime = NULL;
  hone_family relu, missing;
  hone_problem problem, near, other;
  hone_pick pick;
  hone_argument arguments[2];
  const int64_t extent = 64, near_extent = 60, negative = -1;
  char* error = NULL;
  int changed = 7;
  struct {
    hone_options known;
    int added;
  } later;

  EXPECT(hone_abi_version() == HONE_ABI_VERSION);
  EXPECT(strlen(hone_version()) > 0);
  options.databases = databases;
  options.database_count = 1;
  options.device = "host";
  options.record_misses = 0;
  EXPECT(hone_open(&options, &runtime, &error) == HONE_OK && error == NULL);
  EXPECT(hone_find_family(runtime, "relu", &relu, &error) == HONE_OK);
  EXPECT(hone_make_problem(&relu, "f32", NULL, &extent, 1, &problem, &error) == HONE_OK);
  EXPECT(hone_make_problem(&relu, "f32", "", &near_extent, 1, &near, NULL) == HONE_OK);
  EXPECT(hone_make_problem(&relu, "bf16", "", &extent, 1, &other, NULL) == HONE_OK);

  EXPECT(hone_prepare(runtime, &problem, 16, &pick, &error) == HONE_OK);
  EXPECT(hone_pick_rung(&pick) == HONE_RUNG_EXACT);
  EXPECT(strcmp(hone_rung_name(hone_pick_rung(&pick)), "exact") == 0);
  EXPECT(strncmp(hone_pick_configuration(&pick), "simt ", 5) == 0);
  EXPECT(strlen(hone_pick_build_key(&pick)) == 32);
  EXPECT(hone_pick_median_ns(&pick) == 1000.0);
  EXPECT(hone_pick_workspace_bytes(&pick) == 0);
  x[0] = -1;
  x[1] = 2;
  arguments[0].pointer = x;
  arguments[1].pointer = y;
  EXPECT(hone_launch(runtime, &pick, arguments, 2, NULL, &error) == HONE_OK);
  EXPECT(y[0] == 0 && y[1] == 2);
  hone_pick_release(&pick);
  y[1] = 0;
  EXPECT(hone_run(runtime, &near, arguments, 2, NULL, &error) == HONE_OK);
  EXPECT(y[1] == 2);
  EXPECT(hone_pick_problem(runtime, &near, 16, &pick, NULL) == HONE_OK);
  EXPECT(hone_pick_rung(&pick) == HONE_RUNG_NEAREST);
  hone_pick_release(&pick);

  EXPECT(hone_pick_problem(runtime, &other, 16, &pick, &error) == HONE_OK && error == NULL);
  EXPECT(hone_pick_rung(&pick) == HONE_RUNG_NONE);
  EXPECT(strstr(hone_pick_why(&pick), "hone tune relu") != NULL);
  EXPECT(hone_launch(runtime, &pick, arguments, 2, NULL, &error) == HONE_NO_ANSWER && error != NULL);
  hone_free(error);
  hone_pick_release(&pick);

  EXPECT(hone_find_family(runtime, "nothing", &missing, &error) == HONE_INVALID && error != NULL);
  hone_free(error);
  EXPECT(hone_find_family(runtime, NULL, &missing, NULL) == HONE_INVALID);
  EXPECT(hone_make_problem(&relu, "f32", NULL, &negative, 1, &problem, &error) == HONE_INVALID);
  EXPECT(strstr(error, "numel = -1") != NULL);
  hone_free(error);
  EXPECT(hone_make_problem(NULL, "f32", NULL, &extent, 1, &problem, NULL) == HONE_INVALID);
  EXPECT(hone_run(NULL, &problem, arguments, 2, NULL, NULL) == HONE_INVALID);
  EXPECT(hone_run(runtime, &near, NULL, 2, NULL, NULL) == HONE_INVALID);
  EXPECT(hone_run(runtime, &near, arguments, 1, NULL, &error) == HONE_INVALID);
  hone_free(error);
  EXPECT(hone_refresh(runtime, &changed, &error) == HONE_OK && changed == 0);
  EXPECT(hone_flush_misses(runtime, &error) == HONE_OK);
  hone_close(runtime);
  hone_close(NULL);

  databases[0] = "/nowhere/at/all.db";
  EXPECT(hone_open(&options, &runtime, &error) == HONE_ENVIRONMENT && runtime == NULL);
  EXPECT(strlen(error) < room);
  strcpy(text, error);
  hone_free(error);
  options.size = 0;
  EXPECT(hone_open(&options, &runtime, NULL) == HONE_INVALID);
  databases[0] = database;
  /* A caller of before, whose options ended earlier, and one of later, whose go on. */
  options.maximum_modules = 77;
  options.size = offsetof(hone_options, maximum_answers);
  EXPECT(hone_open(&options, &runtime, NULL) == HONE_OK);
  hone_close(runtime);
  memset(&later, 0, sizeof later);
  later.known = options;
  later.known.size = sizeof later;
  EXPECT(hone_open(&later.known, &runtime, NULL) == HONE_OK);
  hone_close(runtime);
  later.added = 1;
  EXPECT(hone_open(&later.known, &runtime, &error) == HONE_INVALID && strstr(error, "newer") != NULL);
  hone_free(error);
  return 0;
}

/* y = x by a kernel that takes a workspace. */
int lend_a_workspace(const char* database, size_t expected, char* text, size_t room) {
  enum { extent = 1000, zeros = 16384 };
  static int x[extent], y[extent];
  static _Alignas(256) unsigned char workspace[65536];
  const char* databases[] = {database};
  const int64_t dimension = extent;
  hone_options options = HONE_OPTIONS_INIT;
  hone_runtime* runtime = NULL;
  hone_family lent;
  hone_problem problem;
  hone_pick pick;
  hone_argument arguments[3];
  char* error = NULL;
  int i;

  options.databases = databases;
  options.database_count = 1;
  options.device = "host";
  options.record_misses = 0;
  EXPECT(hone_open(&options, &runtime, &error) == HONE_OK);
  EXPECT(hone_find_family(runtime, "lent", &lent, &error) == HONE_OK);
  EXPECT(hone_make_problem(&lent, "i32", NULL, &dimension, 1, &problem, &error) == HONE_OK);
  EXPECT(hone_prepare(runtime, &problem, 4, &pick, &error) == HONE_OK);
  EXPECT(hone_pick_rung(&pick) == HONE_RUNG_EXACT);
  EXPECT(hone_pick_workspace_bytes(&pick) == expected && expected <= sizeof workspace);
  for (i = 0; i < extent; ++i) x[i] = i - 500;
  memset(workspace + zeros, 0xa5, sizeof workspace - zeros);
  arguments[0].pointer = x;
  arguments[1].pointer = y;
  arguments[2].pointer = workspace;
  EXPECT(hone_launch(runtime, &pick, arguments, 2, NULL, &error) == HONE_INVALID && error != NULL);
  EXPECT(strlen(error) < room);
  strcpy(text, error);
  hone_free(error);
  EXPECT(hone_run(runtime, &problem, arguments, 2, NULL, NULL) == HONE_INVALID);
  EXPECT(hone_launch(runtime, &pick, arguments, 3, NULL, &error) == HONE_OK);
  EXPECT(memcmp(x, y, sizeof x) == 0);
  memset(y, 0, sizeof y);
  EXPECT(hone_run(runtime, &problem, arguments, 3, NULL, &error) == HONE_OK);
  EXPECT(memcmp(x, y, sizeof x) == 0);
  for (i = 0; i < zeros; ++i) EXPECT(workspace[i] == 0);
  EXPECT(workspace[expected] == 0xa5);
  hone_pick_release(&pick);
  hone_close(runtime);
  return 0;
}
