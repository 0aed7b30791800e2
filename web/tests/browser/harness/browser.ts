// SPDX-License-Identifier: MIT
// One browser for all tests, and a page that is blank and remembers nothing for each: a page of its own, or, as a context
// takes half a second of processor time, the page of a test before it. Whatever a page complains about, and any request
// that leaves this machine, fails its test.
import assert from 'node:assert';
import {mkdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, test} from 'node:test';
import {type Browser, type BrowserContext, type BrowserContextOptions, chromium, type ConsoleMessage, type Page, type Request,
  type WebError} from 'playwright-core';
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
  /** Has a page of its own, as a test does that has a server or a script of its own. */
  isAlone?: boolean;
  /** Acts on every page of the context before its own script. */
  prepare?: (context: BrowserContext) => Promise<void>;
}

function leavesThisMachine(address: string): boolean {
  const {protocol, hostname} = new URL(address);
  return protocol !== 'data:' && protocol !== 'blob:' && protocol !== 'file:' && hostname !== '127.0.0.1';
}

/** Notes what the pages of a context complain about and ask for. */
export class Watch {
  readonly complaints: string[] = [];
  readonly requests: string[] = [];

  constructor(private readonly context: BrowserContext, private readonly expected: RegExp | undefined) {
    context.on('request', this.onRequest);
    context.on('console', this.onConsole);
    context.on('weberror', this.onError);
  }

  /** Hears no more. */
  end(): void {
    this.context.off('request', this.onRequest);
    this.context.off('console', this.onConsole);
    this.context.off('weberror', this.onError);
  }

  check(): void {
    assert.deepStrictEqual(this.complaints, [], 'the page complained');
    assert.deepStrictEqual(this.requests.filter(leavesThisMachine), [], 'requests left this machine');
  }

  private readonly onRequest = (request: Request): void => { this.requests.push(request.url()); };

  private readonly onConsole = (message: ConsoleMessage): void => {
    if (['error', 'warning', 'assert'].includes(message.type())) this.complain(`console: ${message.text()} (${message.location().url})`);
  };

  private readonly onError = (error: WebError): void => this.complain(`error: ${error.error().stack ?? error.error().message}`);

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

const SIZE = {width: 1440, height: 900};

async function newPage(options: TestOptions): Promise<Page> {
  const context = await (await theBrowser()).newContext({
    viewport: SIZE, locale: 'en-GB', timezoneId: 'UTC', reducedMotion: 'reduce', colorScheme: 'light', acceptDownloads: true,
    ...options.context,
  });
  context.setDefaultTimeout(ACTION_MS);
  if (settings.page) await replacePage(context);
  await options.prepare?.(context);
  return context.newPage();
}

/** Pages that are blank and remember nothing, by what is special about them. */
const waiting = new Map<string, Page>();

async function takePage(key: string, options: TestOptions): Promise<Page> {
  const page = waiting.get(key) ?? await newPage(options);
  waiting.delete(key);
  await page.setViewportSize({width: options.width ?? SIZE.width, height: options.height ?? SIZE.height});
  await page.emulateMedia({colorScheme: options.context?.colorScheme ?? 'light', reducedMotion: 'reduce'});
  return page;
}

async function giveBack(key: string, page: Page): Promise<void> {
  await page.unrouteAll();
  for (const other of page.context().pages()) if (other !== page) await other.close();
  await page.evaluate(() => { localStorage.clear(); sessionStorage.clear(); }).catch(() => undefined);  // about:blank has none
  await page.context().clearCookies();
  await page.goto('about:blank');
  await page.mouse.move(0, 0);
  waiting.set(key, page);
}

let sheet: Promise<Page> | undefined;

/** A blank page to draw and to measure pictures on; nothing stays there. */
export function blankPage(): Promise<Page> {
  sheet ??= newPage({});
  return sheet;
}

async function keepPicture(page: Page, name: string): Promise<void> {
  mkdirSync(settings.failures, {recursive: true});
  const path = join(settings.failures, `${name.replace(/[^a-z0-9]+/gi, '_').slice(0, 80)}.png`);
  await page.screenshot({path}).then(() => console.error(`the page as it was: ${path}`), () => undefined);
}

/** A test with a page; afterwards the page must have had nothing to complain about. */
export function pageTest(name: string, body: (page: Page, watch: Watch) => Promise<void>, options: TestOptions = {}): void {
  void test(name, {timeout: TEST_MS}, async () => {
    const key = options.isAlone ? name : JSON.stringify([options.context ?? {}, options.prepare?.name ?? '']);
    const page = await takePage(key, options);
    const watch = new Watch(page.context(), options.expected);
    try {
      await body(page, watch);
      watch.check();
    } catch (error) {
      await keepPicture(page, name);
      if (watch.complaints.length > 0) console.error(watch.complaints.join('\n'));
      await page.context().close();
      throw error;
    } finally {
      watch.end();
    }
    if (options.isAlone) await page.context().close();
    else await giveBack(key, page);
  });
}
