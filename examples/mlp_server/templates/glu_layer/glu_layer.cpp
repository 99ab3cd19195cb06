#include "prelude.h"

// Neighbouring threads have neighbouring stretches of columns; a row of B is read once for all of a thread's
// rows.
HONE_KERNEL(glu_layer, i64 m, i64 n, i64 k, const f32* a, const f32* b, const f32* bias, const f32* y,
            f32* out) {
  const i64 first_row = static_cast<i64>(HONE_BLOCK_INDEX_Y) * HONE_ROWS;
  const i64 first = (static_cast<i64>(HONE_BLOCK_INDEX_X) * HONE_BLOCK + HONE_THREAD_X) * HONE_COLUMNS;
  if (first >= n) return;
  const int rows = m - first_row < HONE_ROWS ? static_cast<int>(m - first_row) : HONE_ROWS;
  const int columns = n - first < HONE_COLUMNS ? static_cast<int>(n - first) : HONE_COLUMNS;
  f32 x[HONE_ROWS][HONE_COLUMNS];
  for (int r = 0; r < HONE_ROWS; ++r)
    for (int c = 0; c < HONE_COLUMNS; ++c) x[r][c] = 0;
  if (rows == HONE_ROWS && columns == HONE_COLUMNS) {
    for (i64 i = 0; i < k; ++i) {
      const f32* row = b + i * n + first;
      for (int r = 0; r < HONE_ROWS; ++r) {
        const f32 left = a[(first_row + r) * k + i];
        for (int c = 0; c < HONE_COLUMNS; ++c) x[r][c] += left * row[c];
      }
    }
  } else {
    for (i64 i = 0; i < k; ++i)
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) x[r][c] += a[(first_row + r) * k + i] * b[i * n + first + c];
  }
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const i64 at = (first_row + r) * n + first + c;
      const f32 sum = x[r][c] + bias[first + c];
      out[at] = sum + sum * y[at];
    }
  }
}
