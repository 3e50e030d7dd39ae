// SPDX-License-Identifier: Apache-2.0
// Sums by method over a tree from callers to callees, and who called whom. Recursion counts once: a context below another
// one of the same method is part of its total already.
import type { ShownTree } from './derive';

export interface MethodSums {
  self: Float64Array[]; // by recording, method
  total: Float64Array[];
}

export function sumByMethod(tree: ShownTree, methods: number): MethodSums {
  const self = tree.self.map(() => new Float64Array(methods));
  const total = tree.total.map(() => new Float64Array(methods));
  forEachOutermost(tree, methods, (node, isOutermost) => {
    const method = tree.method[node];
    for (let r = 0; r < self.length; ++r) {
      self[r][method] += tree.self[r][node];
      if (isOutermost) total[r][method] += tree.total[r][node];
    }
  });
  return { self, total };
}

/** Visits callers before callees; says of each node whether no caller of it is of the same method. */
function forEachOutermost(tree: ShownTree, methods: number, visit: (node: number, isOutermost: boolean) => void): void {
  // Callees are found by their callers, depth first, with an explicit stack: nodes are numbered in the order of their
  // making, which is not always a preorder.
  const firstChild = new Int32Array(tree.size).fill(-1);
  const sibling = new Int32Array(tree.size).fill(-1);
  for (let node = tree.size - 1; node > 0; --node) {
    sibling[node] = firstChild[tree.parent[node]];
    firstChild[tree.parent[node]] = node;
  }
  const open = new Int32Array(methods);
  let node = firstChild[0];
  while (node > 0) {
    const method = tree.method[node];
    visit(node, open[method]++ === 0);
    if (firstChild[node] > 0) {
      node = firstChild[node];
      continue;
    }
    while (node > 0) {
      --open[tree.method[node]];
      if (sibling[node] > 0) {
        node = sibling[node];
        break;
      }
      node = tree.parent[node];
    }
  }
}

export interface Neighbour {
  method: number; // -1: the thread itself
  total: number[]; // by recording: spent in the chosen method for this caller, or in this callee
}

export function neighboursOf(tree: ShownTree, methods: number, chosen: number): { callers: Neighbour[]; callees: Neighbour[] } {
  const callers = new Map<number, number[]>();
  const callees = new Map<number, number[]>();
  const add = (map: Map<number, number[]>, method: number, node: number) => {
    const sums = map.get(method) ?? tree.total.map(() => 0);
    tree.total.forEach((column, r) => (sums[r] += column[node]));
    map.set(method, sums);
  };
  forEachOutermost(tree, methods, (node, isOutermost) => {
    const parent = tree.parent[node];
    if (tree.method[node] === chosen && isOutermost) add(callers, tree.method[parent], node);
    if (parent > 0 && tree.method[parent] === chosen && tree.method[node] !== chosen) add(callees, tree.method[node], node);
  });
  const sorted = (map: Map<number, number[]>): Neighbour[] =>
    [...map].map(([method, total]) => ({ method, total })).sort((a, b) => Math.max(...b.total) - Math.max(...a.total));
  return { callers: sorted(callers), callees: sorted(callees) };
}
