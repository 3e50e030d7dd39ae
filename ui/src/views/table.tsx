// SPDX-License-Identifier: Apache-2.0
// All methods with their own values and totals; of a chosen one, who called it and whom it called. Only the rows in view
// exist as elements.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import type { Profile } from '../data/profile';
import type { ShownTree } from '../model/derive';
import type { Matches } from '../model/search';
import { type Neighbour, neighboursOf, sumByMethod } from '../model/sums';
import { amount, percent, signed } from '../model/text';
import type { SortKey, State } from '../state';

const ROW = 24;
const SPARE = 8; // rows above and below the view

interface Props {
  profile: Profile;
  state: State;
  tree: ShownTree; // from callers to callees
  matches: Matches | null;
  onSort(key: SortKey): void;
  onChoose(method: number): void;
}

export function Table({ profile, state, tree, matches, onSort, onChoose }: Props) {
  const sums = useMemo(() => sumByMethod(tree, profile.methods.length), [tree]);
  const recordings = tree.total.length;
  const last = recordings - 1;
  const totals = tree.total.map((column) => column[0]);
  const share = (value: number, r: number) => (totals[r] > 0 ? value / totals[r] : 0);
  const change = (method: number) =>
    state.comparison === 'shares'
      ? share(sums.total[last][method], last) - share(sums.total[0][method], 0)
      : sums.total[last][method] - sums.total[0][method];
  const rows = useMemo(() => {
    const present: number[] = [];
    for (let m = 0; m < profile.methods.length; ++m) {
      if (sums.total.every((column) => column[m] === 0)) continue;
      if (matches === null || matches.method[m] !== 0) present.push(m);
    }
    const key: Record<SortKey, (a: number, b: number) => number> = {
      method: (a, b) => (profile.methods[a].display < profile.methods[b].display ? -1 : 1),
      self: (a, b) => sums.self[last][a] - sums.self[last][b],
      total: (a, b) => sums.total[last][a] - sums.total[last][b],
      change: (a, b) => Math.abs(change(a)) - Math.abs(change(b)),
    };
    const direction = state.ascending ? 1 : -1;
    return present.sort((a, b) => direction * key[state.sort](a, b) || a - b);
  }, [sums, matches, state.sort, state.ascending, state.comparison]);

  const unit = profile.metrics[state.metric];
  const header = (key: SortKey, label: string) => (
    <button class={`column ${key}`} aria-sort={state.sort === key ? (state.ascending ? 'ascending' : 'descending') : 'none'} onClick={() => onSort(key)}>
      {label}
      {state.sort === key ? (state.ascending ? ' ▲' : ' ▼') : ''}
    </button>
  );
  return (
    <div class="tables">
      <div class="methods" id="methods">
        <div class="row head">
          {header('method', `Method (${rows.length.toLocaleString('en-US')})`)}
          {header('self', 'Self')}
          {header('total', 'Total')}
          {recordings > 1 && header('change', 'Change')}
        </div>
        <VirtualRows count={rows.length}>
          {(i) => {
            const method = rows[i];
            const m = profile.methods[method];
            const grown = change(method);
            return (
              <button key={method} class={`row${state.chosen === method ? ' chosen' : ''}`} onClick={() => onChoose(state.chosen === method ? -1 : method)}>
                <span class="column method" title={m.display + m.parameters}>
                  {m.display}
                  <span class="faint">{m.parameters}</span>
                </span>
                <Value value={sums.self[last][method]} share={share(sums.self[last][method], last)} text={amount(sums.self[last][method], unit)} />
                <Value value={sums.total[last][method]} share={share(sums.total[last][method], last)} text={amount(sums.total[last][method], unit)} />
                {recordings > 1 && (
                  <span class={`column change ${grown > 0 ? 'grown' : grown < 0 ? 'shrunk' : ''}`}>
                    {signed(state.comparison === 'shares' ? percent(grown) : amount(grown, unit), grown)}
                  </span>
                )}
              </button>
            );
          }}
        </VirtualRows>
      </div>
      {state.chosen >= 0 && <Neighbours profile={profile} state={state} tree={tree} onChoose={onChoose} />}
    </div>
  );
}

function Value({ value, share, text }: { value: number; share: number; text: string }) {
  return (
    <span class="column number" data-value={value}>
      <span class="bar" style={{ width: `${Math.min(100, share * 100)}%` }} />
      {text} <span class="faint">{percent(share)}</span>
    </span>
  );
}

function Neighbours({ profile, state, tree, onChoose }: Pick<Props, 'profile' | 'state' | 'tree' | 'onChoose'>) {
  const found = useMemo(() => neighboursOf(tree, profile.methods.length, state.chosen), [tree, state.chosen]);
  const unit = profile.metrics[state.metric];
  const list = (title: string, id: string, neighbours: Neighbour[]) => {
    const most = Math.max(1, ...neighbours.slice(0, 1).flatMap((n) => n.total));
    return (
      <section id={id}>
        <h2>
          {title} ({neighbours.length})
        </h2>
        {neighbours.slice(0, 200).map((n) => (
          <button class="row" key={n.method} disabled={n.method < 0} onClick={() => onChoose(n.method)}>
            <span class="column method">{n.method < 0 ? '(thread)' : profile.methods[n.method].display}</span>
            {n.total.map((value, r) => (
              <span class="column number" key={r} data-value={value}>
                <span class="bar" style={{ width: `${(100 * value) / most}%` }} />
                {amount(value, unit)}
              </span>
            ))}
          </button>
        ))}
      </section>
    );
  };
  const method = profile.methods[state.chosen];
  return (
    <aside class="neighbours">
      <h1>
        {method.display}
        <span class="faint">{method.parameters}</span>
        <button class="close" aria-label="Close" onClick={() => onChoose(-1)}>
          ×
        </button>
      </h1>
      {list('Called by', 'callers', found.callers)}
      {list('Calls', 'callees', found.callees)}
    </aside>
  );
}

function VirtualRows({ count, children }: { count: number; children: (index: number) => preact.JSX.Element }) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const update = () => box.current && setView({ top: box.current.scrollTop, height: box.current.clientHeight });
  useEffect(() => {
    update();
    const observer = new ResizeObserver(update);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(view.top / ROW) - SPARE);
  const last = Math.min(count, Math.ceil((view.top + view.height) / ROW) + SPARE);
  const shown = [];
  for (let i = first; i < last; ++i) shown.push(children(i));
  return (
    <div class="rows" ref={box} onScroll={update} tabIndex={0}>
      <div style={{ height: `${count * ROW}px`, paddingTop: `${first * ROW}px`, boxSizing: 'border-box' }}>{shown}</div>
    </div>
  );
}
