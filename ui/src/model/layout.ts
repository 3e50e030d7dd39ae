// SPDX-License-Identifier: Apache-2.0
// Where each node of a tree lies: from 0 to 1 across, and in a row per depth. Rows are sorted from left to right, so what
// is to be drawn is found by halving.
import type { ShownTree } from './derive';

export type Order = 'heavy' | 'call' | 'name';
export type Comparison = 'shares' | 'amounts';

export interface Layout {
  left: Float64Array; // by node
  width: Float64Array;
  depth: Int32Array;
  rows: Int32Array[]; // by depth: nodes from left to right
  childStart: Int32Array; // by node: its callees are children[childStart[n] … childStart[n + 1])
  children: Int32Array;
}

/** What the width of a node stands for: with two recordings, the sum of both, so that nothing is hidden. */
function weightsOf(tree: ShownTree, comparison: Comparison): Float64Array {
  if (tree.total.length === 1) return tree.total[0];
  const scales = tree.total.map((column) => (comparison === 'amounts' ? 1 : 1 / Math.max(1, column[0])));
  const weights = new Float64Array(tree.size);
  for (let node = 0; node < tree.size; ++node) {
    for (let r = 0; r < scales.length; ++r) weights[node] += tree.total[r][node] * scales[r];
  }
  return weights;
}

function childLists(tree: ShownTree): { childStart: Int32Array; children: Int32Array } {
  const childStart = new Int32Array(tree.size + 1);
  for (let node = 1; node < tree.size; ++node) ++childStart[tree.parent[node] + 1];
  for (let node = 0; node < tree.size; ++node) childStart[node + 1] += childStart[node];
  const next = childStart.slice();
  const children = new Int32Array(Math.max(0, tree.size - 1));
  for (let node = 1; node < tree.size; ++node) children[next[tree.parent[node]]++] = node;
  return { childStart, children };
}

export function layOut(tree: ShownTree, order: Order, comparison: Comparison, nameRank: Int32Array): Layout {
  const weights = weightsOf(tree, comparison);
  const { childStart, children } = childLists(tree);
  if (order !== 'call') {
    const compare =
      order === 'heavy'
        ? (a: number, b: number) => weights[b] - weights[a] || a - b
        : (a: number, b: number) => nameRank[tree.method[a]] - nameRank[tree.method[b]];
    for (let node = 0; node < tree.size; ++node) {
      if (childStart[node + 1] - childStart[node] > 1) children.subarray(childStart[node], childStart[node + 1]).sort(compare);
    }
  }
  const scale = weights[0] > 0 ? 1 / weights[0] : 0;
  const left = new Float64Array(tree.size);
  const width = new Float64Array(tree.size);
  const depth = new Int32Array(tree.size);
  const rowSizes: number[] = [];
  for (let node = 0; node < tree.size; ++node) {
    width[node] = weights[node] * scale;
    if (node > 0) depth[node] = depth[tree.parent[node]] + 1;
    rowSizes[depth[node]] = (rowSizes[depth[node]] ?? 0) + 1;
    let at = left[node];
    for (let i = childStart[node]; i < childStart[node + 1]; ++i) {
      left[children[i]] = at;
      at += weights[children[i]] * scale;
    }
  }
  const rows = rowSizes.map((size) => new Int32Array(size));
  const filled = rowSizes.map(() => 0);
  // Row by row: the callees of a sorted row, in their order, are sorted as well.
  rows[0][0] = 0;
  for (let d = 0; d + 1 < rows.length; ++d) {
    for (const node of rows[d]) {
      for (let i = childStart[node]; i < childStart[node + 1]; ++i) rows[d + 1][filled[d + 1]++] = children[i];
    }
  }
  return { left, width, depth, rows, childStart, children };
}

/** The first place in `row` whose node ends right of `x`. */
export function firstEndingAfter(layout: Layout, row: Int32Array, x: number, from = 0): number {
  let low = from;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (layout.left[row[middle]] + layout.width[row[middle]] > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function nodeAt(layout: Layout, depth: number, x: number): number {
  const row = layout.rows[depth];
  if (row === undefined) return -1;
  const place = firstEndingAfter(layout, row, x);
  return place < row.length && layout.left[row[place]] <= x ? row[place] : -1;
}
