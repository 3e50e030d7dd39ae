// SPDX-License-Identifier: Apache-2.0
// Which methods a search text means, and how much of the whole they make up.
import type { Profile } from '../data/profile';
import type { ShownTree } from './derive';

export interface Matches {
  method: Uint8Array; // 1: matches
  count: number; // of methods
}

/** A part of a name in any case; between slashes, /a|b/, a regular expression. Nothing, if there is no search. */
export function findMethods(profile: Profile, text: string): Matches | null {
  if (text === '') return null;
  let test: (name: string) => boolean;
  const expression = /^\/(.+)\/$/.exec(text);
  if (expression !== null) {
    try {
      const regex = new RegExp(expression[1], 'i');
      test = (name) => regex.test(name);
    } catch {
      test = () => false; // not finished yet
    }
  } else {
    const wanted = text.toLowerCase();
    test = (name) => name.toLowerCase().includes(wanted);
  }
  const method = new Uint8Array(profile.methods.length);
  let count = 0;
  profile.methods.forEach((m, i) => {
    if (!test(m.display + m.parameters)) return;
    method[i] = 1;
    ++count;
  });
  return { method, count };
}

/** Of the root's total, by recording; a match below another one is part of it already. */
export function matchedShare(tree: ShownTree, matches: Matches): number[] {
  const inside = new Uint8Array(tree.size);
  const sums = tree.total.map(() => 0);
  for (let node = 1; node < tree.size; ++node) {
    if (inside[tree.parent[node]] !== 0) {
      inside[node] = 1;
    } else if (matches.method[tree.method[node]] !== 0) {
      inside[node] = 1;
      tree.total.forEach((column, r) => (sums[r] += column[node]));
    }
  }
  return sums.map((sum, r) => (tree.total[r][0] > 0 ? sum / tree.total[r][0] : 0));
}
