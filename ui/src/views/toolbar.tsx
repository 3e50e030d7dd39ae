// SPDX-License-Identifier: Apache-2.0
import type { RefObject, TargetedEvent } from 'preact';

import type { Profile } from '../data/profile';
import type { Order } from '../model/layout';
import { percent } from '../model/text';
import type { State } from '../state';

interface Props {
  profile: Profile;
  state: State;
  searchBox: RefObject<HTMLInputElement | null>;
  matched: { methods: number; shares: number[] } | null;
  change(part: Partial<State>): void;
  onSave(kind: 'svg' | 'png'): void;
  onHelp(): void;
}

/** Gives the keys back to the page. */
function chosen(event: TargetedEvent<HTMLSelectElement>): string {
  event.currentTarget.blur();
  return event.currentTarget.value;
}

const ORDERS: [Order, string][] = [
  ['heavy', 'heaviest first'],
  ['call', 'call order'],
  ['name', 'by name'],
];

export function Toolbar({ profile, state, searchBox, matched, change, onSave, onHelp }: Props) {
  const toggle = (key: 'invert' | 'collapseRecursion' | 'myCode', label: string, title: string) => (
    <button id={key} class="toggle" aria-pressed={state[key]} title={title} onClick={() => change({ [key]: !state[key], zoom: [] })}>
      {label}
    </button>
  );
  return (
    <nav class="toolbar">
      <div class="tabs" role="tablist">
        {(['flame', 'table'] as const).map((panel) => (
          <button key={panel} id={`tab-${panel}`} role="tab" aria-selected={state.panel === panel} onClick={() => change({ panel })}>
            {panel === 'flame' ? 'Flame graph' : 'Methods'}
          </button>
        ))}
      </div>
      <select id="metric" title="Metric (m)" value={state.metric} onChange={(e) => change({ metric: Number(chosen(e)) })}>
        {profile.metrics.map((metric, i) => (
          <option key={metric.name} value={i}>
            {metric.label}
          </option>
        ))}
      </select>
      <select id="thread" title="Thread (t)" value={state.thread} onChange={(e) => change({ thread: Number(chosen(e)), zoom: [] })}>
        <option value={-1}>all threads ({profile.threads.length})</option>
        {profile.threads.map((thread, i) => (
          <option key={i} value={i}>
            {thread}
          </option>
        ))}
      </select>
      {state.panel === 'flame' && (
        <select id="order" title="Order of callees (o)" value={state.order} onChange={(e) => change({ order: chosen(e) as Order })}>
          {ORDERS.map(([order, label]) => (
            <option key={order} value={order}>
              {label}
            </option>
          ))}
        </select>
      )}
      {state.panel === 'flame' && toggle('invert', 'Invert', 'From callees to callers (i)')}
      {toggle('myCode', 'My code', 'Hide the JDK; its values go to who called it (c)')}
      {toggle('collapseRecursion', 'Recursion', 'Collapse direct recursion (r)')}
      {profile.recordings.length > 1 && (
        <button
          id="comparison"
          class="toggle"
          title="Compare shares of the whole, or amounts (n)"
          aria-pressed={state.comparison === 'amounts'}
          onClick={() => change({ comparison: state.comparison === 'shares' ? 'amounts' : 'shares' })}
        >
          Amounts
        </button>
      )}
      <span class="search">
        <input
          id="search"
          ref={searchBox}
          type="search"
          placeholder="Search (/)"
          value={state.search}
          onInput={(e) => change({ search: e.currentTarget.value })}
        />
        {matched !== null && (
          <output id="matched">
            {matched.methods} methods, {matched.shares.map(percent).join(' → ')}
          </output>
        )}
      </span>
      <span class="right">
        {state.panel === 'flame' && <button onClick={() => onSave('svg')}>SVG</button>}
        {state.panel === 'flame' && <button onClick={() => onSave('png')}>PNG</button>}
        <button id="theme" title="Light or dark (l)" onClick={() => change({ theme: isDark(state) ? 'light' : 'dark' })}>
          ◐
        </button>
        <button id="keys" title="Keys (?)" onClick={onHelp}>
          ?
        </button>
      </span>
    </nav>
  );
}

export function isDark(state: State): boolean {
  return state.theme === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : state.theme === 'dark';
}
