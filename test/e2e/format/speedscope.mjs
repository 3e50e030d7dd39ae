// SPDX-License-Identifier: Apache-2.0
// node speedscope.mjs FILE: what speedscope's own viewer shows of a file, {profile: {function: self value}}, as JSON.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const file = process.argv[2];
const viewer = join(here, '../node_modules/speedscope/dist/release');

function skip(reason) {
  console.log(reason);
  process.exit(77);
}
const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
if (executablePath === undefined) skip('there is no chromium (Debian: chromium)');
if (!existsSync(viewer)) skip('speedscope is not installed (npm ci in test/e2e)');
const { chromium } = await import('playwright-core').catch(() => skip('playwright-core is not installed (npm ci in test/e2e)'));

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' };
const server = createServer((request, response) => {
  const path = new URL(request.url, 'http://x').pathname;
  const source = path === '/profile.json' ? file : join(viewer, path);
  if (!existsSync(source)) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': TYPES[extname(source)] ?? 'application/octet-stream' }).end(readFileSync(source));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const origin = `http://127.0.0.1:${server.address().port}`;

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1400, height: 4000 } });
await page.goto(`${origin}/index.html#profileURL=${encodeURIComponent(`${origin}/profile.json`)}`);
await page.waitForFunction(() => document.body.innerText.includes('Sandwich'), null, { timeout: 60_000 });
await page.keyboard.press('3');
const shown = {};
// Other formats than its own have one profile here.
const text = readFileSync(file, 'utf8');
const profiles = text.startsWith('{') ? JSON.parse(text).profiles.map((profile) => profile.name) : ['all'];
const first = text.startsWith('{') ? (JSON.parse(text).activeProfileIndex ?? 0) : 0;
for (let i = 0; i < first; ++i) await page.keyboard.press('p');
for (const [i, name] of profiles.entries()) {
  if (i > 0) await page.keyboard.press('n');
  await page.waitForTimeout(500);
  const rows = await page.locator('table tr').evaluateAll((list) => list.map((row) => [...row.children].map((cell) => cell.innerText.trim())));
  shown[name] = {};
  // Total, self, name: "1,047,680 (38%)".
  for (const cells of rows) {
    const self = /^([\d,]+)/.exec(cells[1] ?? '');
    if (self !== null && cells[2]) shown[name][cells[2]] = (shown[name][cells[2]] ?? 0) + Number(self[1].replaceAll(',', ''));
  }
}
await browser.close();
server.close();
console.log(JSON.stringify(shown));
