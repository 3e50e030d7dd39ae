// SPDX-License-Identifier: Apache-2.0
// The bytes that src/format/html/page_data.cc makes: the length of a JSON object (four bytes, the lowest first), the
// object, then columns of LEB128 numbers: depths (differences, zigzag), methods, and values by recording and metric.
import type { CallTree, Method, Metric, Profile, Recording } from './profile';

interface Head {
  version: number;
  recordings: Recording[];
  metrics: Metric[];
  threads: string[];
  classes: string[];
  files: string[];
  methods: [number, string, string, number, number][];
  nodes: number;
  columns: number[];
}

/** `count` numbers from `at` on; numbers up to 2^53 are exact. */
function decodeColumn(bytes: Uint8Array, at: number, count: number, put: (index: number, value: number) => void): void {
  for (let i = 0; i < count; ++i) {
    let byte = bytes[at++];
    let value = byte & 0x7f;
    let scale = 128;
    while (byte >= 0x80) {
      byte = bytes[at++];
      value += (byte & 0x7f) * scale;
      scale *= 128;
    }
    put(i, value);
  }
}

function decodeTree(bytes: Uint8Array, at: number, head: Head): CallTree {
  const size = head.nodes;
  const depth = new Uint32Array(size);
  const method = new Uint32Array(size);
  let column = 0;
  const next = (put: (index: number, value: number) => void) => {
    decodeColumn(bytes, at, size, put);
    at += head.columns[column++];
  };
  let current = 0;
  next((i, change) => {
    current += change % 2 === 0 ? change / 2 : -(change + 1) / 2;
    depth[i] = current;
  });
  next((i, value) => {
    method[i] = value;
  });
  const values = head.recordings.map(() =>
    head.metrics.map(() => {
      const numbers = new Float64Array(size);
      next((i, value) => {
        numbers[i] = value;
      });
      return numbers;
    }),
  );
  return { size, depth, method, values };
}

export function decodeProfile(bytes: Uint8Array): Profile {
  const headSize = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head: Head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headSize)));
  if (head.version !== 1) throw new Error(`the data has version ${head.version}; this page reads version 1`);
  const methods: Method[] = head.methods.map(([cls, name, parameters, line, flags]) => {
    const className = head.classes[cls];
    const display = className === '' ? name : `${className}.${name}`;
    return { className, name, parameters, file: head.files[cls], line, flags, display };
  });
  return {
    recordings: head.recordings,
    metrics: head.metrics,
    threads: head.threads,
    methods,
    tree: decodeTree(bytes, 4 + headSize, head),
  };
}
