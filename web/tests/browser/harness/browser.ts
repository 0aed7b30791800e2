// SPDX-License-Identifier: MIT
// One browser for all tests and a fresh context for each. Whatever a page complains about, and any
// request that leaves this machine, fails its test.
import assert from 'node:assert';
import {mkdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, test} from 'node:test';
import {type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page} from 'playwright-core';
import {settings} from './settings';

const ARGUMENTS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--force-color-profile=srgb', '--font-render-hinting=none',
  // Names are not even looked up.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];
// Waits end as soon as what they wait for is there; the limits only tell a page that hangs from a busy machine.
const TEST_MS = 300_000;
const ACTION_MS = 90_000;

let browser: Browser | undefined;
after(() => browser?.close());

async function theBrowser(): Promise<Browser> {
  browser ??= await chromium.launch({executablePath: settings.chromium, args: ARGUMENTS, headless: true});
  return browser;
}

export interface TestOptions {
  width?: number;
  height?: number;
  /** Complaints that the test provokes. */
  expected?: RegExp;
  context?: BrowserContextOptions;
}

function leavesThisMachine(address: string): boolean {
  const {protocol, hostname} = new URL(address);
  return protocol !== 'data:' && protocol !== 'blob:' && protocol !== 'file:' && hostname !== '127.0.0.1';
}

/** Notes what the pages of a context complain about and ask for. */
export class Watch {
  readonly complaints: string[] = [];
  readonly requests: string[] = [];

  constructor(context: BrowserContext, private readonly expected: RegExp | undefined) {
    context.on('request', (request) => this.requests.push(request.url()));
    context.on('console', (message) => {
      if (['error', 'warning', 'assert'].includes(message.type())) this.complain(`console: ${message.text()} (${message.location().url})`);
    });
    context.on('weberror', (error) => this.complain(`error: ${error.error().stack ?? error.error().message}`));
  }

  check(): void {
    assert.deepStrictEqual(this.complaints, [], 'the page complained');
    assert.deepStrictEqual(this.requests.filter(leavesThisMachine), [], 'requests left this machine');
  }

  private complain(text: string): void {
    if (!this.expected?.test(text)) this.complaints.push(text);
  }
}

/** Shows another page than the one in the binary, under the same headers. */
export async function replacePage(context: BrowserContext): Promise<void> {
  for (const file of ['app.js', 'app.css', 'index.html']) {
    const path = file === 'index.html' ? '/' : `/${file}`;
    await context.route((address) => address.pathname === path, async (route) => {
      const response = await route.fetch();
      await route.fulfill({response, body: readFileSync(join(settings.page, file))});
    });
  }
}

export async function newContext(options: TestOptions): Promise<{context: BrowserContext; watch: Watch}> {
  const context = await (await theBrowser()).newContext({
    viewport: {width: options.width ?? 1440, height: options.height ?? 900},
    locale: 'en-GB', timezoneId: 'UTC', reducedMotion: 'reduce', colorScheme: 'light', acceptDownloads: true,
    ...options.context,
  });
  context.setDefaultTimeout(ACTION_MS);
  if (settings.page) await replacePage(context);
  return {context, watch: new Watch(context, options.expected)};
}

async function keepPicture(page: Page, name: string): Promise<void> {
  mkdirSync(settings.failures, {recursive: true});
  const path = join(settings.failures, `${name.replace(/[^a-z0-9]+/gi, '_').slice(0, 80)}.png`);
  await page.screenshot({path}).then(() => console.error(`the page as it was: ${path}`), () => undefined);
}

/** A test with a page of its own; afterwards the page must have had nothing to complain about. */
export function pageTest(name: string, body: (page: Page, watch: Watch) => Promise<void>, options: TestOptions = {}): void {
  void test(name, {timeout: TEST_MS}, async () => {
    const {context, watch} = await newContext(options);
    const page = await context.newPage();
    try {
      await body(page, watch);
      watch.check();
    } catch (error) {
      await keepPicture(page, name);
      if (watch.complaints.length > 0) console.error(watch.complaints.join('\n'));
      throw error;
    } finally {
      await context.close();
    }
  });
}
