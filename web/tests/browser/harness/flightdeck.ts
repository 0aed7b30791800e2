// SPDX-License-Identifier: MIT
// The tool under test as other processes: trainings, servers, exports.
import {type ChildProcess, execFile, spawn} from 'node:child_process';
import {cpSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {createInterface} from 'node:readline';
import {promisify} from 'node:util';
import type {Page} from 'playwright-core';
import {emptyFolder, settings} from './settings';

// Threads that wait for work by spinning would slow the browser down. The last spares the tool a second start, in which it
// would choose such an environment itself.
const environment = {...process.env, OMP_WAIT_POLICY: 'PASSIVE', OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', FLIGHTDECK_ENV_SET: '1'};
const started = new Set<ChildProcess>();
process.on('exit', () => started.forEach((child) => child.kill('SIGKILL')));

function begin(args: readonly string[]): ChildProcess {
  const child = spawn(settings.binary, args, {env: environment, stdio: ['ignore', 'pipe', 'inherit']});
  started.add(child);
  child.once('exit', () => started.delete(child));
  return child;
}

function ended(child: ChildProcess): Promise<void> {
  return child.exitCode !== null || child.signalCode !== null ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()));
}

/** Runs the tool to its end and returns what it printed. */
export async function flightdeck(...args: string[]): Promise<string> {
  const {stdout} = await promisify(execFile)(settings.binary, args, {env: environment, maxBuffer: 1 << 28});
  return stdout;
}

/** The same in a folder and found by name, as a user calls it: what is recorded of the call names nothing of this machine. */
export async function flightdeckIn(folder: string, ...args: string[]): Promise<void> {
  const path = `${dirname(settings.binary)}:${process.env['PATH'] ?? ''}`;
  await promisify(execFile)(basename(settings.binary), args, {cwd: folder, env: {...environment, PATH: path}, maxBuffer: 1 << 28});
}

export class Server {
  private constructor(private readonly child: ChildProcess, readonly address: string, readonly port: number) {}

  static async start(folder: string, port = 0, ...more: string[]): Promise<Server> {
    const child = begin(['serve', folder, '--port', String(port), '--json', ...more]);
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({input: child.stdout as NodeJS.ReadableStream}).once('line', resolve);
      child.once('exit', (status) => reject(new Error(`flightdeck serve ended with ${status}`)));
    });
    const {address, port: chosen} = JSON.parse(line) as {address: string; port: number};
    return new Server(child, address, chosen);
  }

  /** As a power cut would. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await ended(this.child);
  }
}

/** Serves a folder while the page is used, and no longer. */
export async function served(page: Page, folder: string, use: (address: string) => Promise<void>, ...more: string[]): Promise<void> {
  const server = await Server.start(folder, 0, ...more);
  try {
    await use(server.address);
    // The page would complain about a server that is gone.
    await page.goto('about:blank');
  } finally {
    await server.kill();
  }
}

export class Training {
  private readonly child: ChildProcess;

  /** Trains until it is interrupted, tracking every step. */
  constructor(folder: string) {
    this.child = begin(['run', 'mnist_mlp', '--synthetic', '--limit', '512', '--batch-size', '16', '--steps', '1000000',
      '--interval', '1', '--preset', 'economy', '--evaluate-every', '0', '--threads', '1', '--json', '--out', folder]);
    this.child.stdout?.resume();
  }

  async interrupt(): Promise<void> {
    this.child.kill('SIGINT');
    await ended(this.child);
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }
}

/** The recorded runs of the fixture in a folder of their own. */
export function copyOfFixture(): string {
  const folder = emptyFolder();
  cpSync(settings.fixture, folder, {recursive: true});
  return folder;
}

const exports = new Map<string, Promise<string>>();

/** One column of what `flightdeck export --format csv` writes of a run, by step. */
export async function exported(folder: string, run: string, column: string): Promise<Map<number, number>> {
  const path = join(folder, run);
  const text = exports.get(path) ?? flightdeck('export', path, '--format', 'csv');
  exports.set(path, text);
  const [head = '', ...rows] = (await text).trim().split('\r\n');
  const at = head.split(',').indexOf(column);
  if (at < 0) throw new Error(`the export of ${run} has no column ${column}, but ${head}`);
  return new Map(rows.map((row) => row.split(',')).filter((cells) => cells[at] !== '')
    .map((cells) => [Number(cells[0]), Number(cells[at])]));
}
