/* Runs relu from the database named by the first word, on the host. */
#include <hone/hone.h>
#include <stdio.h>

int main(int count, char** words) {
  static _Alignas(16) float x[1024], y[1024];
  const char* databases[1];
  hone_options options = HONE_OPTIONS_INIT;
  hone_runtime* runtime = NULL;
  hone_family relu;
  hone_problem problem;
  hone_argument arguments[2];
  const int64_t numel = 1024;
  char* error = NULL;

  if (count != 2 || hone_abi_version() != HONE_ABI_VERSION) return 2;
  databases[0] = words[1];
  options.databases = databases;
  options.database_count = 1;
  options.device = "host";
  options.record_misses = 0;
  x[0] = -3;
  x[1] = 5;
  arguments[0].pointer = x;
  arguments[1].pointer = y;
  if (hone_open(&options, &runtime, &error) == HONE_OK &&
      hone_find_family(runtime, "relu", &relu, &error) == HONE_OK &&
      hone_make_problem(&relu, "f32", NULL, &numel, 1, &problem, &error) == HONE_OK &&
      hone_run(runtime, &problem, arguments, 2, NULL, &error) == HONE_OK) {
    printf("C, hone %s: %g %g\n", hone_version(), y[0], y[1]);
  } else {
    printf("C: %s\n", error);
    hone_free(error);
  }
  hone_close(runtime);
  return y[0] == 0 && y[1] == 5 ? 0 : 1;
}
