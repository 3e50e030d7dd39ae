// SPDX-License-Identifier: Apache-2.0
// What the user has chosen. All of it is in the URL's hash, so that a link shows the same view; what is as at the start
// is left out of it.
import type { Profile } from './data/profile';
import type { Comparison, Order } from './model/layout';

export type Panel = 'flame' | 'table';
export type SortKey = 'method' | 'self' | 'total' | 'change';
export type Theme = 'auto' | 'light' | 'dark';

export interface State {
  panel: Panel;
  metric: number;
  thread: number; // -1: all
  invert: boolean;
  order: Order;
  comparison: Comparison;
  collapseRecursion: boolean;
  myCode: boolean;
  focus: number; // method, -1: none
  hide: number[];
  search: string;
  zoom: number[]; // methods from the outermost frame to the one that fills the width
  sort: SortKey;
  ascending: boolean;
  chosen: number; // method whose callers and callees are shown, -1: none
  theme: Theme;
}

export function initialState(profile: Profile): State {
  return {
    panel: 'flame',
    metric: profile.metrics.length - 1,
    thread: -1,
    invert: false,
    order: 'heavy',
    comparison: 'shares',
    collapseRecursion: false,
    myCode: false,
    focus: -1,
    hide: [],
    search: '',
    zoom: [],
    sort: 'self',
    ascending: false,
    chosen: -1,
    theme: 'auto',
  };
}

type Codec = { write(value: never): string; read(text: string, profile: Profile): unknown };

const word = (...words: string[]): Codec => ({
  write: (value: string) => value,
  read: (text) => (words.includes(text) ? text : undefined),
});
const flag: Codec = { write: (value: boolean) => (value ? '1' : '0'), read: (text) => text === '1' };
const text: Codec = { write: (value: string) => value, read: (value) => value };
const number = (limit: (profile: Profile) => number): Codec => ({
  write: (value: number) => String(value),
  read: (value, profile) => {
    const parsed = Number.parseInt(value, 10);
    return parsed >= -1 && parsed < limit(profile) ? parsed : undefined;
  },
});
const methods: Codec = {
  write: (value: number[]) => value.join('.'),
  read: (value, profile) =>
    value
      .split('.')
      .map((part) => Number.parseInt(part, 10))
      .filter((method) => method >= 0 && method < profile.methods.length),
};
const method = number((profile) => profile.methods.length);

const CODECS: Record<keyof State, Codec> = {
  panel: word('flame', 'table'),
  metric: number((profile) => profile.metrics.length),
  thread: number((profile) => profile.threads.length),
  invert: flag,
  order: word('heavy', 'call', 'name'),
  comparison: word('shares', 'amounts'),
  collapseRecursion: flag,
  myCode: flag,
  focus: method,
  hide: methods,
  search: text,
  zoom: methods,
  sort: word('method', 'self', 'total', 'change'),
  ascending: flag,
  chosen: method,
  theme: word('auto', 'light', 'dark'),
};

export function toHash(state: State, profile: Profile): string {
  const initial = initialState(profile);
  const parts = new URLSearchParams();
  for (const key of Object.keys(CODECS) as (keyof State)[]) {
    const written = CODECS[key].write(state[key] as never);
    if (written !== CODECS[key].write(initial[key] as never)) parts.set(key, written);
  }
  return parts.toString();
}

export function fromHash(hash: string, profile: Profile): State {
  const state: State = initialState(profile);
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ''))) {
    if (!Object.hasOwn(CODECS, key)) continue;
    const read = CODECS[key as keyof State].read(value, profile);
    if (read !== undefined) Object.assign(state, { [key]: read });
  }
  if (state.metric < 0) state.metric = initialState(profile).metric;
  return state;
}
