// SPDX-License-Identifier: Apache-2.0
// Frames are coloured by package, so that neighbours of one package look alike; differences by how much they grew (red)
// or shrank (blue); what a search found stands out.
import { type Method, MethodFlag } from '../data/profile';

export interface Palette {
  background: string;
  text: string;
  frameText: string;
  border: string;
  match: string;
  dimmed: string;
  selected: string;
  frames: string[];
  growth: string[]; // from most shrunk over unchanged to most grown
}

const HUES = 12;
const SHADES = 5;

function frames(lightness: number, saturation: number): string[] {
  const colors: string[] = [];
  for (let hue = 0; hue < HUES; ++hue) {
    for (let shade = 0; shade < SHADES; ++shade) {
      colors.push(`hsl(${Math.round((hue * 360) / HUES)} ${saturation}% ${lightness + shade * 2}%)`);
    }
  }
  return colors;
}

function growth(dark: boolean): string[] {
  return Array.from({ length: 21 }, (_, i) => {
    const strength = Math.abs(i - 10) / 10;
    const lightness = dark ? 34 + strength * 14 : 90 - strength * 32;
    return `hsl(${i < 10 ? 215 : 5} ${Math.round(strength * 75)}% ${Math.round(lightness)}%)`;
  });
}

export const LIGHT: Palette = {
  background: '#ffffff',
  text: '#1d2330',
  frameText: '#16181d',
  border: '#ffffff',
  match: '#e83fb8',
  dimmed: '#e4e7ec',
  selected: '#11151c',
  frames: frames(74, 58),
  growth: growth(false),
};

export const DARK: Palette = {
  background: '#14171d',
  text: '#e4e8ef',
  frameText: '#f2f4f8',
  border: '#14171d',
  match: '#c2238f',
  dimmed: '#2b303a',
  selected: '#ffffff',
  frames: frames(32, 38),
  growth: growth(true),
};

function hashOf(text: string): number {
  let hash = 7;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash, 31) + text.charCodeAt(i);
  return hash >>> 0;
}

/** A number into Palette.frames per method. */
export function frameColors(methods: Method[]): Uint8Array {
  const colors = new Uint8Array(methods.length);
  methods.forEach((method, i) => {
    const parts = method.className.split('.');
    const name = parts.length > 2 ? parts.slice(0, 2).join('.') : (parts[0] ?? '');
    const hue = (method.flags & MethodFlag.Jdk) !== 0 ? hashOf(parts[1] ?? '') % 4 : 4 + (hashOf(name) % (HUES - 4));
    colors[i] = ((hue + 6) % HUES) * SHADES + (hashOf(method.className) % SHADES);
  });
  return colors;
}

/** A number into Palette.growth: `change` from -1 to 1 relative to the larger of two values. */
export function growthColor(before: number, after: number): number {
  const larger = Math.max(before, after);
  if (larger === 0) return 10;
  const change = (after - before) / larger;
  // Small changes should be seen: the root spreads them.
  return 10 + Math.round(Math.sign(change) * Math.sqrt(Math.abs(change)) * 10);
}
