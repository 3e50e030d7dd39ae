// SPDX-License-Identifier: Apache-2.0
// From a node and a step to a node, for millions of them: open addressing in typed arrays. A Map would need a key object
// or text for each.

export class StepIndex {
  private parents: Int32Array;
  private steps: Int32Array;
  private nodes: Int32Array; // 0: free
  private mask: number;
  private used = 0;

  constructor(expected: number) {
    let slots = 1024;
    while (slots < expected * 2) slots *= 2;
    this.parents = new Int32Array(slots);
    this.steps = new Int32Array(slots);
    this.nodes = new Int32Array(slots);
    this.mask = slots - 1;
  }

  /** The node that (parent, step) leads to; `fresh`, which is not 0, if there was none. */
  get(parent: number, step: number, fresh: number): number {
    if (this.used * 2 > this.mask) this.grow();
    let slot = this.slotOf(parent, step);
    while (this.nodes[slot] !== 0) {
      if (this.parents[slot] === parent && this.steps[slot] === step) return this.nodes[slot];
      slot = (slot + 1) & this.mask;
    }
    this.parents[slot] = parent;
    this.steps[slot] = step;
    this.nodes[slot] = fresh;
    ++this.used;
    return fresh;
  }

  private slotOf(parent: number, step: number): number {
    let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(step, 0x85ebca6b);
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x2c1b3c6d);
    return (hash ^ (hash >>> 13)) & this.mask;
  }

  private grow(): void {
    const { parents, steps, nodes } = this;
    const slots = nodes.length * 2;
    this.parents = new Int32Array(slots);
    this.steps = new Int32Array(slots);
    this.nodes = new Int32Array(slots);
    this.mask = slots - 1;
    for (let i = 0; i < nodes.length; ++i) {
      if (nodes[i] === 0) continue;
      let slot = this.slotOf(parents[i], steps[i]);
      while (this.nodes[slot] !== 0) slot = (slot + 1) & this.mask;
      this.parents[slot] = parents[i];
      this.steps[slot] = steps[i];
      this.nodes[slot] = nodes[i];
    }
  }
}
