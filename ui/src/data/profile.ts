// SPDX-License-Identifier: Apache-2.0
// What the views show, and where it comes from. The views know nothing but these types: a page with a recording in it is
// one source, a server another.

export interface Recording {
  command: string;
  jdk: string;
  mode: string;
  startMs: number;
  durationNs: number;
  ownCpuNs: number;
  complete: boolean;
  losses: string[];
}

export interface Metric {
  name: string; // as on the command line
  label: string; // for people
  unit: string;
}

export const enum MethodFlag {
  Jdk = 1,
  Native = 2,
  Intrinsic = 4,
  Pseudo = 8,
}

export interface Method {
  className: string;
  name: string;
  parameters: string;
  file: string;
  line: number;
  flags: number;
  display: string; // package.Class.method
}

/** All contexts in preorder. A node of depth 0 is a thread: `method` is its number in `threads`. */
export interface CallTree {
  size: number;
  depth: Uint32Array;
  method: Uint32Array;
  /** values[recording][metric][node]: self values. */
  values: Float64Array[][];
}

export interface Profile {
  recordings: Recording[]; // one, or two to compare
  metrics: Metric[];
  threads: string[];
  methods: Method[];
  tree: CallTree;
}

export interface ProfileSource {
  load(): Promise<Profile>;
}
