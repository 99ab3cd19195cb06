// The order in which blocks take the tiles of out.
//
//   grouped_tile(index, tiles_m, tiles_n, group)
//       the index-th tile: down a column of `group` tiles, then the next column to the right; below a group
//       of rows comes the next. Tiles that are computed at the same time then share rows of A and columns of
//       B. Fewer than 2^31 tiles
#ifndef HONE_TILE_ORDER_H
#define HONE_TILE_ORDER_H

#include "prelude.h"

struct TilePlace {
  u32 row, column;
};

HONE_DEVICE TilePlace grouped_tile(u32 index, u32 tiles_m, u32 tiles_n, u32 group) {
  const u32 height = group < tiles_m ? group : tiles_m;
  const u32 before = index / (height * tiles_n) * height;  // rows in groups above
  const u32 mine = height < tiles_m - before ? height : tiles_m - before;
  const u32 rest = index - before * tiles_n;
  return {before + rest % mine, rest / mine};
}

#endif
