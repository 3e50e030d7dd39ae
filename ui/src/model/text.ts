// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them.
import type { Metric } from '../data/profile';

const grouping = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export function amount(value: number, metric: Metric): string {
  if (metric.unit === 'nanoseconds') return duration(value);
  if (metric.unit === 'bytes') return bytes(value);
  return grouping.format(value);
}

export function percent(share: number): string {
  const value = share * 100;
  if (value === 0) return '0 %';
  if (Math.abs(value) >= 99.995) return `${value.toFixed(0)} %`;
  if (Math.abs(value) < 0.01) return value > 0 ? '< 0.01 %' : '> -0.01 %';
  return `${value.toFixed(2)} %`;
}

export function signed(text: string, value: number): string {
  return value > 0 ? `+${text}` : text;
}

export function duration(ns: number): string {
  if (ns >= 60e9) return `${Math.floor(ns / 60e9)} min ${Math.round((ns % 60e9) / 1e9)} s`;
  if (ns >= 1e9) return `${(ns / 1e9).toFixed(2)} s`;
  if (ns >= 1e6) return `${(ns / 1e6).toFixed(1)} ms`;
  return `${(ns / 1e3).toFixed(1)} µs`;
}

function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return unit === 0 ? `${value} B` : `${value.toFixed(1)} ${units[unit]}`;
}
