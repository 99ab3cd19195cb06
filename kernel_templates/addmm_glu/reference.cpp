// addmm_glu in double precision. An item is a tile of 64 x 64 elements of out; tiles are numbered along rows.
// Large problems are sampled: the tiles at the corners, some or all of those along the edges, and some of the
// others, by a fixed hash of their number. Elements of a tile that is left out are marked unsampled.
#include <cstring>
#include <memory>

#include "fill.h"
#include "marks.h"

namespace {

using i64 = long long;
using u64 = unsigned long long;

constexpr i64 tile = 64;
constexpr i64 panel = 256;            // steps along K that are converted at once
constexpr i64 budget = i64{1} << 33;  // multiply-adds of a whole problem

// A micro-tile of rows x columns stays in registers: 8 vectors of sums.
#if defined(__AVX__)
constexpr i64 lanes = 4;
#else
constexpr i64 lanes = 2;
#endif
constexpr i64 rows = 4;
constexpr i64 columns = 2 * lanes;
typedef double Vector __attribute__((vector_size(8 * lanes)));

struct Problem {
  i64 m, n, k, lda, ldb, ldy, ldo;
  bool transposed;  ///< b is N x K
  const unsigned short* a;
  const unsigned short* b;
  const unsigned short* bias;
  const unsigned short* y;
  double* out;
};

inline float number_of_bits(unsigned bits) {
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

/// Exact. A product puts f16's exponent right and normalises a denormal; infinity and NaN keep theirs.
template <bool Bf16>
inline double number(unsigned short half) {
  const unsigned bits = half;
  if constexpr (Bf16) return number_of_bits(bits << 16);
  const float finite = number_of_bits((bits & 0x8000U) << 16 | (bits & 0x7FFFU) << 13) * 0x1p112F;
  const float other = number_of_bits((bits & 0x8000U) << 16 | 0x7F800000U | (bits & 0x3FFU) << 13);
  return (bits & 0x7C00U) == 0x7C00U ? other : finite;
}

template <bool Bf16>
void convert(const unsigned short* from, i64 count, double* to) {
  for (i64 i = 0; i < count; ++i) to[i] = number<Bf16>(from[i]);
}

/// Parts of A and B for one tile and one stretch of K, in the order in which micro-tiles read them.
struct Panels {
  alignas(64) double a[tile / rows][panel][rows];
  alignas(64) double b[tile / columns][panel][columns];
  alignas(64) double sums[tile][tile];
};

/// `lines` rows of memory, `stride` apart, whose elements lie along K, to [line / Width][k][line % Width].
template <bool Bf16, i64 Width>
void pack_along_k(const unsigned short* from, i64 stride, i64 lines, i64 depth, double (*to)[panel][Width]) {
  double line[panel];
  for (i64 i = 0; i < lines; ++i) {
    convert<Bf16>(from + i * stride, depth, line);
    for (i64 k = 0; k < depth; ++k) to[i / Width][k][i % Width] = line[k];
  }
}

/// The same of rows whose elements lie along the tile's width.
template <bool Bf16>
void pack_across_k(const unsigned short* from, i64 stride, i64 width, i64 depth,
                   double (*to)[panel][columns]) {
  double line[tile];
  for (i64 k = 0; k < depth; ++k) {
    convert<Bf16>(from + k * stride, width, line);
    for (i64 j = 0; j < width; ++j) to[j / columns][k][j % columns] = line[j];
  }
}

void multiply(const double (*a)[rows], const double (*b)[columns], i64 depth, double* sums) {
  constexpr i64 vectors = columns / lanes;
  Vector sum[rows][vectors];
  for (i64 i = 0; i < rows; ++i)
    for (i64 v = 0; v < vectors; ++v) sum[i][v] = *reinterpret_cast<Vector*>(sums + i * tile + lanes * v);
  for (i64 k = 0; k < depth; ++k) {
    Vector right[vectors];
    for (i64 v = 0; v < vectors; ++v) right[v] = *reinterpret_cast<const Vector*>(b[k] + lanes * v);
    for (i64 i = 0; i < rows; ++i)
      for (i64 v = 0; v < vectors; ++v) sum[i][v] += a[k][i] * right[v];
  }
  for (i64 i = 0; i < rows; ++i)
    for (i64 v = 0; v < vectors; ++v) *reinterpret_cast<Vector*>(sums + i * tile + lanes * v) = sum[i][v];
}

template <bool Bf16>
void compute_tile(const Problem& p, i64 first_row, i64 first_column, Panels& panels) {
  const i64 height = p.m - first_row < tile ? p.m - first_row : tile;
  const i64 width = p.n - first_column < tile ? p.n - first_column : tile;
  std::memset(panels.sums, 0, sizeof panels.sums);
  for (i64 k = 0; k < p.k; k += panel) {
    const i64 depth = p.k - k < panel ? p.k - k : panel;
    // Rows and columns beyond the tile's keep what they had: their sums are never read.
    pack_along_k<Bf16, rows>(p.a + first_row * p.lda + k, p.lda, height, depth, panels.a);
    if (p.transposed) {
      pack_along_k<Bf16, columns>(p.b + first_column * p.ldb + k, p.ldb, width, depth, panels.b);
    } else {
      pack_across_k<Bf16>(p.b + k * p.ldb + first_column, p.ldb, width, depth, panels.b);
    }
    for (i64 i = 0; i < height; i += rows)
      for (i64 j = 0; j < width; j += columns)
        multiply(panels.a[i / rows], panels.b[j / columns], depth, &panels.sums[i][j]);
  }
  for (i64 i = 0; i < height; ++i) {
    for (i64 j = 0; j < width; ++j) {
      const double x = panels.sums[i][j] + number<Bf16>(p.bias[first_column + j]);
      const double gate = number<Bf16>(p.y[(first_row + i) * p.ldy + first_column + j]);
      p.out[(first_row + i) * p.ldo + first_column + j] = x + x * gate;
    }
  }
}

void leave_out(const Problem& p, i64 first_row, i64 first_column) {
  const i64 height = p.m - first_row < tile ? p.m - first_row : tile;
  const i64 width = p.n - first_column < tile ? p.n - first_column : tile;
  for (i64 i = 0; i < height; ++i)
    for (i64 j = 0; j < width; ++j)
      p.out[(first_row + i) * p.ldo + first_column + j] = hone_mark_number(hone_unsampled);
}

/// Which tiles are computed.
class Sample {
 public:
  Sample(const Problem& p) : tall_((p.m + tile - 1) / tile), wide_((p.n + tile - 1) / tile) {
    const i64 all = tall_ * wide_;
    const i64 inside = tall_ > 2 && wide_ > 2 ? (tall_ - 2) * (wide_ - 2) : 0;
    edges_ = all - inside;
    others_ = inside;
    wanted_edges_ = edges_;
    wanted_others_ = others_;
    const i64 wanted = budget / (tile * tile) / p.k;
    if (all <= wanted) return;
    // Half of the sample for the edges, at most; what they leave is for the others.
    if (edges_ > wanted / 2) wanted_edges_ = others_ > 0 ? wanted / 2 : wanted;
    wanted_others_ = wanted - wanted_edges_;
    if (wanted_others_ > others_) wanted_others_ = others_;
  }

  i64 wide() const { return wide_; }

  bool has(i64 row, i64 column) const {
    const bool row_edge = row == 0 || row == tall_ - 1;
    const bool column_edge = column == 0 || column == wide_ - 1;
    if (row_edge && column_edge) return true;
    const u64 random = hone_random(0x68F7, static_cast<u64>(row * wide_ + column));
    return row_edge || column_edge ? drawn(random, wanted_edges_, edges_)
                                   : drawn(random, wanted_others_, others_);
  }

 private:
  /// True for a share of wanted / all of the random numbers.
  static bool drawn(u64 random, i64 wanted, i64 all) {
    return static_cast<unsigned __int128>(random) * static_cast<u64>(all) <
           static_cast<unsigned __int128>(static_cast<u64>(wanted)) << 64;
  }

  i64 tall_, wide_;
  i64 edges_ = 0, others_ = 0;
  i64 wanted_edges_ = 0, wanted_others_ = 0;
};

template <bool Bf16>
void compute(const Problem& p, i64 first, i64 last) {
  const auto panels = std::make_unique<Panels>();
  const Sample sample(p);
  for (i64 item = first; item < last; ++item) {
    const i64 row = item / sample.wide();
    const i64 column = item % sample.wide();
    if (sample.has(row, column)) {
      compute_tile<Bf16>(p, row * tile, column * tile, *panels);
    } else {
      leave_out(p, row * tile, column * tile);
    }
  }
}

}  // namespace

extern "C" void hone_reference(const long long* dimensions, const char* element_type, const char* layout,
                               void* const* arguments, long long first, long long last) {
  const Problem problem{dimensions[0],
                        dimensions[1],
                        dimensions[2],
                        dimensions[3],
                        dimensions[4],
                        dimensions[5],
                        dimensions[6],
                        std::strcmp(layout, "nt") == 0,
                        static_cast<const unsigned short*>(arguments[0]),
                        static_cast<const unsigned short*>(arguments[1]),
                        static_cast<const unsigned short*>(arguments[2]),
                        static_cast<const unsigned short*>(arguments[3]),
                        static_cast<double*>(arguments[4])};
  if (std::strcmp(element_type, "bf16") == 0) {
    compute<true>(problem, first, last);
  } else {
    compute<false>(problem, first, last);
  }
}
