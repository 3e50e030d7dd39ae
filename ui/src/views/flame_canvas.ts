// SPDX-License-Identifier: Apache-2.0
// Draws the part of a laid-out tree that is in view. What is narrower than a pixel is drawn once per pixel, whatever the
// number of nodes there, so the work is bounded by the size of the window and not by that of the tree.
import type { ShownTree } from '../model/derive';
import { type Layout, firstEndingAfter } from '../model/layout';
import type { Matches } from '../model/search';
import { type Palette, growthColor } from './colors';

export const ROW = 19;
const TEXT_MARGIN = 4;
const NARROWEST_TEXT = 26;

export interface Scene {
  tree: ShownTree;
  layout: Layout;
  names: string[]; // by method
  colorOf: Uint8Array; // by method, into palette.frames
  scales: number[]; // by recording: what makes their amounts comparable
  matches: Matches | null;
  palette: Palette;
  rootName: string;
}

export interface Viewport {
  left: number; // of the layout, 0 … 1
  right: number;
  top: number; // in pixels
  width: number;
  height: number;
}

/** What is drawn on, pixels or SVG. Rectangles come row by row; between wide ones it leaves a gap. */
export interface Surface {
  rect(color: string, x: number, y: number, width: number, height: number): void;
  label(text: string, x: number, y: number, width: number): void;
}

function colorOf(scene: Scene, node: number): string {
  const { tree, palette, matches } = scene;
  const method = tree.method[node];
  if (matches !== null && method >= 0) {
    if (matches.method[method] !== 0) return palette.match;
    if (tree.total.length === 1) return palette.dimmed;
  }
  if (tree.total.length > 1) {
    return palette.growth[growthColor(tree.total[0][node] * scene.scales[0], tree.total[1][node] * scene.scales[1])];
  }
  return method < 0 ? palette.dimmed : palette.frames[scene.colorOf[method]];
}

/** Calls `surface` for everything in view; returns how many rectangles that were. */
export function drawScene(scene: Scene, view: Viewport, surface: Surface): number {
  const { layout, tree } = scene;
  const scale = view.width / (view.right - view.left);
  const firstRow = Math.max(0, Math.floor(view.top / ROW));
  const lastRow = Math.min(layout.rows.length - 1, Math.floor((view.top + view.height) / ROW));
  let rectangles = 0;
  for (let depth = firstRow; depth <= lastRow; ++depth) {
    const row = layout.rows[depth];
    const y = depth * ROW - view.top;
    let place = firstEndingAfter(layout, row, view.left);
    while (place < row.length) {
      const node = row[place];
      const x = (layout.left[node] - view.left) * scale;
      if (x >= view.width) break;
      const end = x + layout.width[node] * scale;
      const from = Math.max(0, x);
      ++rectangles;
      if (end - x < 1) {
        // Everything that starts in this pixel is one rectangle.
        const pixel = Math.floor(x);
        surface.rect(colorOf(scene, node), pixel, y, 1, ROW - 1);
        place = firstEndingAfter(layout, row, view.left + (pixel + 1) / scale, place + 1);
        continue;
      }
      const to = Math.min(view.width, end);
      surface.rect(colorOf(scene, node), from, y, to - from, ROW - 1);
      if (to - from >= NARROWEST_TEXT) {
        const method = tree.method[node];
        surface.label(method < 0 ? scene.rootName : scene.names[method], from + TEXT_MARGIN, y, to - from - 2 * TEXT_MARGIN);
      }
      ++place;
    }
  }
  return rectangles;
}

/** The end of a name says more than its packages: they go first. */
export function fitted(text: string, width: number, charWidth: number): string {
  const room = Math.floor(width / charWidth);
  if (text.length <= room) return text;
  const parts = text.split('.');
  while (parts.length > 2 && parts.join('.').length > room) parts.shift();
  let rest = parts.join('.');
  if (rest.length > room && parts.length === 2) rest = parts[1];
  return rest.length <= room ? rest : `${rest.slice(0, Math.max(1, room - 1))}…`;
}
