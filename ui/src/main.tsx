// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';

import { App } from './app';
import { EmbeddedSource } from './data/embedded';
import type { ProfileSource } from './data/profile';
import './style.css';
import { frameTimes } from './views/flame';

async function start(source: ProfileSource, root: HTMLElement): Promise<void> {
  try {
    const profile = await source.load();
    root.textContent = '';
    render(<App profile={profile} />, root);
    // For tests: how long drawing took.
    Object.assign(window, { sondeFrameTimes: frameTimes });
  } catch (error) {
    root.textContent = `The recording in this page cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

void start(new EmbeddedSource('sonde-data'), document.getElementById('app')!);
