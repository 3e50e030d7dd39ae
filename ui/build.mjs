// SPDX-License-Identifier: Apache-2.0
// node build.mjs [OUT]: one HTML file with all scripts and styles in it. Sonde puts a recording where the marks are.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'dist', 'index.html');

const result = await build({
  absWorkingDir: here,
  entryPoints: ['src/main.tsx'],
  bundle: true,
  minify: true,
  write: false,
  outdir: 'dist',
  format: 'iife',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'inline',
});
const textOf = (suffix) => result.outputFiles.find((file) => file.path.endsWith(suffix)).text;
// Inside a <script> element nothing may look like its end.
const script = textOf('.js').replaceAll('</script', '<\\/script');
const page = readFileSync(join(here, 'index.html'), 'utf8')
  .replace('%SONDE_STYLE%', () => textOf('.css'))
  .replace('%SONDE_SCRIPT%', () => script);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, page);
