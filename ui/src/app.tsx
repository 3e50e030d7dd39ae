// SPDX-License-Identifier: Apache-2.0
// Everything together: state in, views out. What is expensive is computed when what it depends on changes.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import type { Profile } from './data/profile';
import { changeOfKey, neighbourOf } from './keys';
import { type ShownTree, deriveTree } from './model/derive';
import { layOut } from './model/layout';
import { findMethods, matchedShare } from './model/search';
import { amount } from './model/text';
import { type SortKey, type State, fromHash, toHash } from './state';
import { DARK, LIGHT, frameColors } from './views/colors';
import { Flame } from './views/flame';
import type { Scene } from './views/flame_canvas';
import { Header } from './views/header';
import { Help } from './views/help';
import { download, pngOf, svgOf } from './views/save_image';
import { Table } from './views/table';
import { Toolbar, isDark } from './views/toolbar';

/** The node that a path of methods leads to, or the last one on the way that exists. */
function nodeOfPath(tree: ShownTree, childStart: Int32Array, children: Int32Array, path: number[]): number {
  let node = 0;
  for (const method of path) {
    let next = -1;
    for (let i = childStart[node]; i < childStart[node + 1] && next < 0; ++i) {
      if (tree.method[children[i]] === method) next = children[i];
    }
    if (next < 0) break;
    node = next;
  }
  return node;
}

function pathOfNode(tree: ShownTree, node: number): number[] {
  const path: number[] = [];
  for (; node > 0; node = tree.parent[node]) path.push(tree.method[node]);
  return path.reverse();
}

export function App({ profile }: { profile: Profile }) {
  const [state, setState] = useState<State>(() => fromHash(location.hash, profile));
  const [selection, setSelection] = useState<{ tree: ShownTree; node: number } | null>(null);
  const [helpIsOpen, setHelp] = useState(false);
  const searchBox = useRef<HTMLInputElement>(null);

  const change = (part: Partial<State>) => setState((old) => ({ ...old, ...part }));
  useLayoutEffect(() => {
    const hash = toHash(state, profile);
    if (hash !== location.hash.replace(/^#/, '')) history.replaceState(null, '', hash === '' ? location.pathname + location.search : `#${hash}`);
  }, [state]);
  useEffect(() => {
    const follow = () => setState(fromHash(location.hash, profile));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);

  const names = useMemo(() => profile.methods.map((m) => m.display), [profile]);
  const colorOf = useMemo(() => frameColors(profile.methods), [profile]);
  const nameRank = useMemo(() => {
    const order = names.map((_, i) => i).sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
    const rank = new Int32Array(order.length);
    order.forEach((method, i) => (rank[method] = i));
    return rank;
  }, [names]);

  const parts = [state.metric, state.thread, state.collapseRecursion, state.myCode, state.focus, state.hide.join()] as const;
  // The table always goes from callers to callees.
  const invert = state.invert && state.panel === 'flame';
  const tree = useMemo(() => deriveTree(profile, { ...state, invert }), [profile, invert, ...parts]);
  const layout = useMemo(() => layOut(tree, state.order, state.comparison, nameRank), [tree, state.order, state.comparison]);
  const matches = useMemo(() => findMethods(profile, state.search), [profile, state.search]);
  const matched = useMemo(() => (matches === null ? null : { methods: matches.count, shares: matchedShare(tree, matches) }), [tree, matches]);
  const zoomed = useMemo(() => nodeOfPath(tree, layout.childStart, layout.children, state.zoom), [tree, layout, state.zoom.join()]);
  const selected = selection?.tree === tree ? selection.node : -1;
  const setSelected = (node: number) => setSelection({ tree, node });

  const dark = isDark(state);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  const metric = profile.metrics[state.metric];
  const scene: Scene = useMemo(() => {
    const scales = tree.total.map((column) => (state.comparison === 'amounts' ? 1 : 1 / Math.max(1, column[0])));
    const thread = state.thread < 0 ? 'all' : profile.threads[state.thread];
    const rootName = `${thread}: ${tree.total.map((column) => amount(column[0], metric)).join(' → ')} ${metric.label}`;
    return { tree, layout, names, colorOf, scales, matches, palette: dark ? DARK : LIGHT, rootName };
  }, [tree, layout, matches, dark, state.comparison]);

  const save = async (kind: 'svg' | 'png') => {
    const width = document.getElementById('flame')?.clientWidth ?? 1200;
    const part = { left: layout.left[zoomed], right: layout.left[zoomed] + layout.width[zoomed], width };
    const blob = kind === 'svg' ? new Blob([svgOf(scene, part)], { type: 'image/svg+xml' }) : await pngOf(scene, part);
    download(blob, `sonde-${metric.name}.${kind}`);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key === 'Escape') {
      if (helpIsOpen) setHelp(false);
      else if (isTyping) (event.target as HTMLElement).blur();
      else change(state.search !== '' ? { search: '' } : { zoom: [] });
      return;
    }
    if (isTyping) return;
    if (event.key === '?') setHelp(!helpIsOpen);
    else if (event.key === '/') searchBox.current?.focus();
    else if (event.key === 'l') change({ theme: dark ? 'light' : 'dark' });
    else if ((event.key === 's' || event.key === 'p') && state.panel === 'flame') void save(event.key === 's' ? 'svg' : 'png');
    else if (event.key.startsWith('Arrow') && state.panel === 'flame') setSelected(neighbourOf(layout, tree.parent, selected < 0 ? zoomed : selected, event.key));
    else if (event.key === 'Enter' && selected >= 0 && state.panel === 'flame') change({ zoom: pathOfNode(tree, selected) });
    else {
      const part = changeOfKey(event.key, state, profile, selected >= 0 ? tree.method[selected] : state.panel === 'table' ? state.chosen : -1);
      if (part === null) return;
      change(part);
    }
    event.preventDefault();
  };
  // The listener stays; what it calls is that of the last rendering, so that no key meets an old state.
  const keyHandler = useRef(onKey);
  keyHandler.current = onKey;
  useEffect(() => {
    const listener = (event: KeyboardEvent) => keyHandler.current(event);
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  }, []);

  const sort = (key: SortKey) => change({ sort: key, ascending: state.sort === key ? !state.ascending : key === 'method' });
  return (
    <>
      <Header profile={profile} />
      <Toolbar profile={profile} state={state} searchBox={searchBox} matched={matched} change={change} onSave={(kind) => void save(kind)} onHelp={() => setHelp(true)} />
      <Breadcrumb profile={profile} state={state} leftOut={tree.leftOut} change={change} />
      {state.panel === 'flame' ? (
        <Flame
          profile={profile}
          metric={state.metric}
          scene={scene}
          zoomed={zoomed}
          selected={selected}
          onSelect={setSelected}
          onZoom={(node) => change({ zoom: pathOfNode(tree, node) })}
        />
      ) : (
        <Table profile={profile} state={state} tree={tree} matches={matches} onSort={sort} onChoose={(chosen) => change({ chosen })} />
      )}
      {helpIsOpen && <Help onClose={() => setHelp(false)} />}
    </>
  );
}

const MOST_CRUMBS = 6;

function Breadcrumb({ profile, state, leftOut, change }: { profile: Profile; state: State; leftOut: number; change(part: Partial<State>): void }) {
  const crumbs = state.zoom.slice(-MOST_CRUMBS);
  const first = state.zoom.length - crumbs.length;
  return (
    <div class="breadcrumb" id="breadcrumb">
      <button onClick={() => change({ zoom: [] })} disabled={state.zoom.length === 0}>
        all
      </button>
      {first > 0 && <span class="faint">… {first} frames …</span>}
      {crumbs.map((method, i) => (
        <button key={i} title={profile.methods[method].display} onClick={() => change({ zoom: state.zoom.slice(0, first + i + 1) })}>
          {shortName(profile.methods[method].display)}
        </button>
      ))}
      {state.focus >= 0 && (
        <button class="chip" onClick={() => change({ focus: -1, zoom: [] })}>
          focus: {shortName(profile.methods[state.focus].display)} ×
        </button>
      )}
      {state.hide.map((method) => (
        <button class="chip" key={method} onClick={() => change({ hide: state.hide.filter((m) => m !== method), zoom: [] })}>
          hidden: {shortName(profile.methods[method].display)} ×
        </button>
      ))}
      {leftOut > 0 && <span class="faint">callers of contexts below 0.002 % are left out</span>}
    </div>
  );
}

function shortName(display: string): string {
  return display.split('.').slice(-2).join('.');
}
