// SPDX-License-Identifier: Apache-2.0
// What a key does to the state; views/help.tsx lists them for people.
import type { Profile } from './data/profile';
import type { Layout, Order } from './model/layout';
import type { State } from './state';

const ORDERS: Order[] = ['heavy', 'call', 'name'];

/** The change that a key makes, or nothing if it is about something else. */
export function changeOfKey(key: string, state: State, profile: Profile, selectedMethod: number): Partial<State> | null {
  switch (key) {
    case '1': return { panel: 'flame' };
    case '2': return { panel: 'table' };
    case 'm': return { metric: (state.metric + 1) % profile.metrics.length };
    case 't': return { thread: state.thread + 1 < profile.threads.length ? state.thread + 1 : -1, zoom: [] };
    case 'i': return { invert: !state.invert, zoom: [] };
    case 'o': return { order: ORDERS[(ORDERS.indexOf(state.order) + 1) % ORDERS.length] };
    case 'r': return { collapseRecursion: !state.collapseRecursion, zoom: [] };
    case 'c': return { myCode: !state.myCode, zoom: [] };
    case 'n': return profile.recordings.length > 1 ? { comparison: state.comparison === 'shares' ? 'amounts' : 'shares' } : null;
    case '0': return { zoom: [] };
    case 'Backspace': return { zoom: state.zoom.slice(0, -1) };
    case 'f': return selectedMethod < 0 ? null : { focus: selectedMethod, zoom: [] };
    case 'h': return selectedMethod < 0 ? null : { hide: [...new Set([...state.hide, selectedMethod])], zoom: [] };
    case 'x': return { focus: -1, hide: [], zoom: [] };
    default: return null;
  }
}

/** The node that an arrow key leads to from `node`; the same if there is none. */
export function neighbourOf(layout: Layout, parent: Int32Array, node: number, key: string): number {
  const row = layout.rows[layout.depth[node]];
  const place = row.indexOf(node);
  switch (key) {
    case 'ArrowUp': return parent[node] >= 0 ? parent[node] : node;
    case 'ArrowDown': return layout.childStart[node] < layout.childStart[node + 1] ? layout.children[layout.childStart[node]] : node;
    case 'ArrowLeft': return place > 0 ? row[place - 1] : node;
    case 'ArrowRight': return place + 1 < row.length ? row[place + 1] : node;
    default: return node;
  }
}
