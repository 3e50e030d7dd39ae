// SPDX-License-Identifier: Apache-2.0
// From the call tree of a recording to the one that is shown: some threads, some methods, one metric, from the callers or
// from the callees. Nothing here knows of pixels.
import { type CallTree, MethodFlag, type Profile } from '../data/profile';
import { StepIndex } from './step_index';

export interface Transform {
  metric: number;
  thread: number; // -1: all
  invert: boolean;
  collapseRecursion: boolean;
  myCode: boolean; // methods of the JDK leave the stacks, their values go to who called them
  focus: number; // method, -1: none
  hide: number[]; // methods
}

/** A tree as columns; node 0 is the root. A caller has a smaller number than its callees. */
export interface ShownTree {
  size: number;
  parent: Int32Array;
  method: Int32Array; // -1: the root
  self: Float64Array[]; // by recording
  total: Float64Array[];
  leftOut: number; // share of the root that is in contexts too small to be made
}

/** Grows as nodes are made. */
class TreeBuilder {
  private parent: Int32Array;
  private method: Int32Array;
  private self: Float64Array[];
  private readonly index: StepIndex;
  size = 1;

  constructor(capacity: number, recordings: number) {
    this.parent = new Int32Array(capacity + 1);
    this.method = new Int32Array(capacity + 1);
    this.self = Array.from({ length: recordings }, () => new Float64Array(capacity + 1));
    this.index = new StepIndex(capacity + 1);
    this.parent[0] = -1;
    this.method[0] = -1;
  }

  child(parent: number, method: number): number {
    const node = this.index.get(parent, method, this.size);
    if (node === this.size) {
      if (this.size === this.parent.length) this.grow();
      this.parent[node] = parent;
      this.method[node] = method;
      ++this.size;
    }
    return node;
  }

  add(node: number, recording: number, value: number): void {
    this.self[recording][node] += value;
  }

  methodOf(node: number): number {
    return this.method[node];
  }

  finish(leftOut: number): ShownTree {
    const self = this.self.map((column) => column.subarray(0, this.size));
    const parent = this.parent.subarray(0, this.size);
    const total = self.map((column) => {
      const sums = column.slice();
      for (let node = this.size - 1; node > 0; --node) sums[parent[node]] += sums[node];
      return sums;
    });
    return { size: this.size, parent, method: this.method.subarray(0, this.size), self, total, leftOut };
  }

  private grow(): void {
    const capacity = this.parent.length * 2;
    const parent = new Int32Array(capacity);
    parent.set(this.parent);
    this.parent = parent;
    const method = new Int32Array(capacity);
    method.set(this.method);
    this.method = method;
    this.self = this.self.map((column) => {
      const larger = new Float64Array(capacity);
      larger.set(column);
      return larger;
    });
  }
}

/** Which methods leave the stacks. */
function leavingMethods(profile: Profile, transform: Transform): Uint8Array {
  const leaves = new Uint8Array(profile.methods.length);
  if (transform.myCode) {
    profile.methods.forEach((method, i) => {
      if ((method.flags & MethodFlag.Jdk) !== 0) leaves[i] = 1;
    });
  }
  for (const method of transform.hide) leaves[method] = 1;
  if (transform.focus >= 0) leaves[transform.focus] = 0;
  return leaves;
}

/** The end of the subtree of each node that starts a thread. */
export function threadRanges(tree: CallTree): { thread: number; begin: number; end: number }[] {
  const ranges: { thread: number; begin: number; end: number }[] = [];
  for (let node = 0; node < tree.size; ++node) {
    if (tree.depth[node] !== 0) continue;
    if (ranges.length > 0) ranges[ranges.length - 1].end = node;
    ranges.push({ thread: tree.method[node], begin: node, end: tree.size });
  }
  return ranges;
}

function topDown(profile: Profile, transform: Transform): ShownTree {
  const { tree } = profile;
  const columns = tree.values.map((metrics) => metrics[transform.metric]);
  const leaves = leavingMethods(profile, transform);
  const builder = new TreeBuilder(tree.size, columns.length);
  // By depth in the recording: the node that is shown for it; -1 outside of what is focused on.
  let place = new Int32Array(1024);
  for (const range of threadRanges(tree)) {
    if (transform.thread >= 0 && range.thread !== transform.thread) continue;
    place[0] = transform.focus >= 0 ? -1 : 0;
    for (let node = range.begin + 1; node < range.end; ++node) {
      const depth = tree.depth[node];
      if (depth >= place.length) {
        const larger = new Int32Array(place.length * 2);
        larger.set(place);
        place = larger;
      }
      const method = tree.method[node];
      let at = place[depth - 1];
      if (at < 0 && method === transform.focus) at = 0;
      if (at >= 0 && leaves[method] === 0) {
        const isRecursion = transform.collapseRecursion && builder.methodOf(at) === method;
        if (!isRecursion) at = builder.child(at, method);
      }
      place[depth] = at;
      if (at < 0) continue;
      for (let i = 0; i < columns.length; ++i) builder.add(at, i, columns[i][node]);
    }
  }
  return builder.finish(0);
}

const SMALLEST_SHARE = 1 / 50_000; // of the whole: less than a pixel, and it bounds the size of the tree

/** Callees first. Level by level: all contexts take one step towards their callers, those that meet become one node. */
function bottomUp(tree: ShownTree): ShownTree {
  const recordings = tree.self.length;
  const builder = new TreeBuilder(4096, recordings);
  let at = new Int32Array(tree.size); // of a context: where it has arrived in `tree`
  let group = new Int32Array(tree.size); // and in the new tree
  let source = new Int32Array(tree.size); // where its value comes from
  let count = 0;
  for (let node = 1; node < tree.size; ++node) {
    if (tree.self.every((column) => column[node] === 0)) continue;
    at[count] = node;
    source[count] = node;
    group[count++] = 0;
  }
  const smallest = tree.total.map((column) => column[0] * SMALLEST_SHARE);
  const weights = tree.self.map(() => new Float64Array(1024));
  let leftOut = 0;
  while (count > 0) {
    const firstNew = builder.size;
    for (let i = 0; i < count; ++i) group[i] = builder.child(group[i], tree.method[at[i]]);
    const made = builder.size - firstNew;
    for (let r = 0; r < recordings; ++r) {
      if (weights[r].length < made) weights[r] = new Float64Array(made * 2);
      else weights[r].fill(0, 0, made);
      for (let i = 0; i < count; ++i) weights[r][group[i] - firstNew] += tree.self[r][source[i]];
    }
    let kept = 0;
    for (let i = 0; i < count; ++i) {
      const node = group[i];
      let isLarge = false;
      for (let r = 0; r < recordings; ++r) isLarge ||= weights[r][node - firstNew] > smallest[r];
      const caller = tree.parent[at[i]];
      if (caller === 0 || !isLarge) {
        // The way ends here: the value belongs to this node.
        for (let r = 0; r < recordings; ++r) builder.add(node, r, tree.self[r][source[i]]);
        if (caller !== 0) leftOut += tree.self[0][source[i]];
        continue;
      }
      at[kept] = caller;
      group[kept] = node;
      source[kept++] = source[i];
    }
    count = kept;
  }
  return builder.finish(leftOut / Math.max(1, tree.total[0][0]));
}

export function deriveTree(profile: Profile, transform: Transform): ShownTree {
  const tree = topDown(profile, transform);
  return transform.invert ? bottomUp(tree) : tree;
}
