// SPDX-License-Identifier: Apache-2.0
// node run.mjs SONDE WORK [--large [--idle]]: the HTML export in a real browser. Exit code 77 if there is no browser.
// --large: also a tree of a million nodes; --idle: the machine does nothing else, so frames have to be in time.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [sonde, work] = process.argv.slice(2);
const wantsLarge = process.argv.includes('--large');
const isIdle = process.argv.includes('--idle');
const LONGEST_FRAME_MS = 16;

function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
if (executablePath === undefined) skip('there is no chromium; apt-get install chromium');
const { chromium } = await import('playwright-core').catch(() => skip('playwright-core is missing; npm ci in test/e2e'));

mkdirSync(work, { recursive: true });
const run = (...args) => execFileSync(sonde, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 });
execFileSync('python3', [join(here, 'profiles.py'), work, ...(wantsLarge ? ['--large'] : [])]);
run('import', join(work, 'small.pb'), '-o', join(work, 'small.sonde'));
run('import', join(work, 'after.pb'), '-o', join(work, 'after.sonde'));
try {
  run('export', join(work, 'small.sonde'), '--to', 'html', '-o', join(work, 'small.html'));
} catch (error) {
  if (String(error.stderr).includes('without the browser view')) skip('sonde was built without the browser view');
  throw error;
}
run('export', join(work, 'small.sonde'), '--diff', join(work, 'after.sonde'), '--to', 'html', '-o', join(work, 'diff.html'));

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const ROW = 19;

/** A page with helpers; everything that goes wrong in it fails the test. */
async function open(name, hash = '') {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', acceptDownloads: true });
  const page = await context.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('dialog', (dialog) => { problems.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  page.on('request', (request) => { if (!/^(file|blob|data):/.test(request.url())) problems.push(`request: ${request.url()}`); });
  await page.goto(`file://${join(work, name)}${hash}`);
  await page.waitForSelector('#breadcrumb', { timeout: 120_000 });
  const canvas = async () => page.locator('#flame').boundingBox();
  return Object.assign(page, {
    problems,
    async click(x, row) {
      const box = await canvas();
      await page.mouse.click(box.x + x * box.width, box.y + (row + 0.5) * ROW);
    },
    async hover(x, row) {
      // A view that is still changing takes the tooltip away: then the mouse has to move again.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))));
      const box = await canvas();
      for (let attempt = 0; ; ++attempt) {
        await page.mouse.move(box.x + x * box.width + (attempt % 2), box.y + (row + 0.5) * ROW);
        try {
          return await page.locator('.tooltip').innerText({ timeout: 1000 });
        } catch (error) {
          if (attempt === 5) throw error;
        }
      }
    },
    crumbs: () => page.locator('#breadcrumb button').allInnerTexts(),
    async rows(selector = '#methods .rows .row') {
      const found = [];
      for (const row of await page.locator(selector).all()) {
        const [method] = await row.locator('.method').allInnerTexts();
        const values = await row.locator('[data-value]').evaluateAll((list) => list.map((e) => Number(e.dataset.value)));
        found.push([method, ...values]);
      }
      return found;
    },
    shot: (file) => page.screenshot({ path: join(work, file) }),
  });
}

const tests = {
  async 'shows the whole and zooms into a frame'() {
    const page = await open('small.html');
    assert.match(await page.hover(0.5, 0), /all: 1,600 bytecodes/);
    assert.match(await page.hover(0.1, 1), /app\.Main\.main[\s\S]*1,000[\s\S]*62\.50 %[\s\S]*self 100/);
    await page.shot('flame.png');
    await page.click(0.1, 2);
    assert.deepEqual(await page.crumbs(), ['all', 'Main.main', 'Main.parse']);
    assert.match(await page.hover(0.9, 2), /app\.Main\.parse[\s\S]*550/); // fills the width
    await page.locator('#breadcrumb button', { hasText: 'Main.main' }).click();
    assert.deepEqual(await page.crumbs(), ['all', 'Main.main']);
    return page;
  },
  async 'searches, with the share of what was found'() {
    const page = await open('small.html');
    await page.keyboard.press('/');
    await page.keyboard.type('trim');
    assert.equal(await page.locator('#matched').innerText(), '1 methods, 18.75 %');
    await page.fill('#search', '/^app.*(print|run)/');
    assert.equal(await page.locator('#matched').innerText(), '2 methods, 50.00 %');
    await page.shot('search.png');
    return page;
  },
  async 'inverts: callees first'() {
    const page = await open('small.html');
    await page.keyboard.press('i');
    assert.match(await page.hover(0.01, 1), /app\.Worker\.run[\s\S]*500/);
    await page.shot('invert.png');
    await page.locator('#search').fill('String.trim');
    assert.equal(await page.locator('#matched').innerText(), '1 methods, 18.75 %');
    return page;
  },
  async 'switches the metric'() {
    const page = await open('small.html');
    await page.keyboard.press('m');
    assert.match(await page.hover(0.5, 0), /all: 52 calls/);
    await page.selectOption('#metric', { label: 'bytecodes' });
    assert.match(await page.hover(0.5, 0), /all: 1,600 bytecodes/);
    return page;
  },
  async 'shows one thread, my code, one method, and recursion as one frame'() {
    const page = await open('small.html');
    await page.selectOption('#thread', { label: 'worker' });
    assert.match(await page.hover(0.5, 0), /worker: 600 bytecodes/);
    assert.match(await page.hover(0.05, 2), /String\.trim/);
    await page.keyboard.press('c'); // what trim did is now part of run
    assert.match(await page.hover(0.99, 1), /Worker\.run[\s\S]*600[\s\S]*self 600/);
    await page.keyboard.press('c');
    await page.selectOption('#thread', { label: 'all threads (2)' });
    await page.click(0.1, 2);
    await page.keyboard.press('f'); // parse is selected
    assert.match(await page.hover(0.5, 0), /all: 550 bytecodes/);
    assert.match(await page.hover(0.1, 1), /Main\.parse[\s\S]*550[\s\S]*self 300/);
    await page.keyboard.press('r');
    assert.match(await page.hover(0.1, 1), /Main\.parse[\s\S]*550[\s\S]*self 350/);
    await page.keyboard.press('x');
    await page.click(0.1, 2);
    await page.keyboard.press('h'); // hidden: its values are its caller's
    assert.match(await page.hover(0.1, 1), /Main\.main[\s\S]*1,000[\s\S]*self 450/);
    assert.ok((await page.crumbs()).includes('hidden: Main.parse ×'));
    return page;
  },
  async 'reproduces a view from its link'() {
    const page = await open('small.html');
    await page.click(0.1, 2);
    await page.keyboard.press('m');
    await page.keyboard.press('o');
    await page.fill('#search', 'print');
    await page.waitForSelector('#matched');
    const hash = await page.evaluate(() => location.hash);
    for (const part of ['zoom=', 'metric=0', 'order=call', 'search=print']) assert.ok(hash.includes(part), hash);
    const again = await open('small.html', hash);
    assert.deepEqual(await again.crumbs(), await page.crumbs());
    assert.equal(await again.locator('#matched').innerText(), await page.locator('#matched').innerText());
    assert.equal(await again.locator('#order').inputValue(), 'call');
    const broken = await open('small.html', '#zoom=999.x&metric=77&order=no&__proto__=1');
    assert.deepEqual(await broken.crumbs(), ['all']);
    return page;
  },
  async 'works by keyboard'() {
    const page = await open('small.html');
    await page.keyboard.press('?');
    await page.waitForSelector('#help');
    await page.shot('help.png');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#help').count(), 0);
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    assert.deepEqual(await page.crumbs(), ['all', 'Main.main', 'Main.parse']);
    for (const key of ['ArrowRight', 'Enter']) await page.keyboard.press(key);
    assert.deepEqual(await page.crumbs(), ['all', 'Main.main', 'Main.print']);
    await page.keyboard.press('Backspace');
    assert.deepEqual(await page.crumbs(), ['all', 'Main.main']);
    await page.keyboard.press('0');
    assert.deepEqual(await page.crumbs(), ['all']);
    await page.keyboard.press('l');
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
    await page.shot('dark.png');
    await page.keyboard.press('2');
    await page.waitForSelector('#methods');
    return page;
  },
  async 'lists methods, sorted, with callers and callees; names stay text'() {
    const page = await open('small.html', '#panel=table');
    const expected = [
      ['app.Worker.run', 500, 600],
      ['app.Main.parse', 350, 550],
      ['java.lang.String.trim', 300, 300],
      ['app.Main.print', 200, 200],
      ['<script>alert(1)</script>', 150, 150],
      ['app.Main.main', 100, 1000],
    ];
    assert.deepEqual(await page.rows(), expected);
    await page.locator('.head .total').click();
    assert.deepEqual((await page.rows()).map((row) => row[2]), [1000, 600, 550, 300, 200, 150]);
    await page.locator('.head .total').click();
    assert.deepEqual((await page.rows()).map((row) => row[2]), [150, 200, 300, 550, 600, 1000]);
    await page.locator('.head .method').click();
    assert.deepEqual((await page.rows()).map((row) => row[0]), expected.map((row) => row[0]).sort());
    await page.locator('#methods .row', { hasText: 'app.Main.parse' }).click();
    assert.deepEqual(await page.rows('#callers .row'), [['app.Main.main', 550]]);
    assert.deepEqual(await page.rows('#callees .row'), [['java.lang.String.trim', 200]]);
    await page.locator('#callees .row').click();
    assert.deepEqual(await page.rows('#callers .row'), [['app.Main.parse', 200], ['app.Worker.run', 100]]);
    await page.shot('table.png');
    return page;
  },
  async 'compares two recordings'() {
    const page = await open('diff.html');
    assert.deepEqual(await page.locator('.badge').allInnerTexts(), ['before', 'after']);
    const text = await page.hover(0.1, 2);
    assert.match(text, /Main\.parse[\s\S]*before[\s\S]*550[\s\S]*34\.38 %[\s\S]*after[\s\S]*950[\s\S]*47\.50 %[\s\S]*\+400[\s\S]*\+13\.12 %/);
    await page.shot('diff.png');
    await page.keyboard.press('2');
    await page.keyboard.press('n');
    await page.locator('.head .change').click();
    const changes = await page.locator('#methods .rows .change').allInnerTexts();
    assert.deepEqual(changes, ['+400', '+400', '0', '0', '0', '0']);
    await page.shot('diff-table.png');
    return page;
  },
  async 'saves pictures'() {
    const page = await open('small.html');
    const save = async (label) => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: label, exact: true }).click()]);
      const file = join(work, download.suggestedFilename());
      await download.saveAs(file);
      return readFileSync(file);
    };
    const svg = String(await save('SVG'));
    assert.ok(svg.startsWith('<svg ') && svg.includes('app.Main.main') && svg.includes('&lt;script'), svg.slice(0, 200));
    assert.ok(!svg.includes('<script'));
    assert.equal((await save('PNG')).subarray(1, 4).toString(), 'PNG');
    return page;
  },
};

if (wantsLarge) {
  tests['is fluent with a million nodes'] = async () => {
    run('import', join(work, 'large.txt'), '-o', join(work, 'large.sonde'));
    unlinkSync(join(work, 'large.txt'));
    run('export', join(work, 'large.sonde'), '--to', 'html', '-o', join(work, 'large.html'));
    const megabytes = statSync(join(work, 'large.html')).size / 1e6;
    const start = Date.now();
    const page = await open('large.html');
    const ready = Date.now() - start;
    await page.shot('large.png');
    // How long drawing took, and how far apart the frames were that the browser showed meanwhile.
    const measure = async (action) => {
      await page.evaluate(() => {
        window.sondeFrameTimes.length = 0;
        window.ticks = [];
        const tick = (now) => { window.ticks?.push(now); if (window.ticks) requestAnimationFrame(tick); };
        requestAnimationFrame(tick);
      });
      await action();
      const [times, ticks] = await page.evaluate(() => [window.sondeFrameTimes, window.ticks, (window.ticks = null)]);
      const sorted = (list) => [...list].sort((a, b) => a - b);
      const at = (list, p) => list[Math.min(list.length - 1, Math.floor(list.length * p))];
      const draws = sorted(times);
      const gaps = sorted(ticks.slice(1).map((now, i) => now - ticks[i]));
      return { frames: draws.length, p50: at(draws, 0.5), p95: at(draws, 0.95), max: at(draws, 1), gap50: at(gaps, 0.5), gap95: at(gaps, 0.95) };
    };
    const box = await page.locator('#flame').boundingBox();
    await page.mouse.move(box.x + 500, box.y + 200);
    const zoom = await measure(async () => {
      await page.keyboard.down('Control');
      for (let i = 0; i < 60; ++i) await page.mouse.wheel(0, i < 30 ? -120 : 120);
      await page.keyboard.up('Control');
    });
    const pan = await measure(async () => {
      await page.keyboard.down('Control');
      for (let i = 0; i < 10; ++i) await page.mouse.wheel(0, -120);
      await page.keyboard.up('Control');
      await page.mouse.down();
      for (let i = 0; i < 60; ++i) await page.mouse.move(box.x + 500 + (i % 20) * 20, box.y + 200 + (i % 7) * 5);
      await page.mouse.up();
    });
    const nodes = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
    console.log(`  file ${megabytes.toFixed(1)} MB, ready after ${ready} ms, heap ${(nodes / 1e6).toFixed(0)} MB`);
    for (const [name, t] of Object.entries({ zoom, pan })) {
      console.log(
        `  ${name}: ${t.frames} frames drawn, p50 ${t.p50.toFixed(1)} ms, p95 ${t.p95.toFixed(1)} ms, max ${t.max.toFixed(1)} ms; ` +
          `shown every ${t.gap50.toFixed(1)} ms, p95 ${t.gap95.toFixed(1)} ms`,
      );
      if (isIdle) assert.ok(t.p95 <= LONGEST_FRAME_MS, `${name}: p95 is ${t.p95} ms`);
    }
    assert.ok(megabytes <= 15, `${megabytes} MB`);
    return page;
  };
}

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    const page = await test();
    assert.deepEqual(page.problems, []);
    await page.context().close();
    console.log(`ok   ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAIL ${name}\n${error.stack}`);
  }
}
await browser.close();
console.log(failed === 0 ? `all ${Object.keys(tests).length} passed` : `${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
