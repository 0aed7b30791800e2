// SPDX-License-Identifier: MIT
// What browser.mjs was told, and the folders the tests use.
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

function needed(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; start these tests with node browser.mjs --flightdeck BINARY`);
  return value;
}

const here = join(needed('FLIGHTDECK_WEB'), 'tests', 'browser');

export const settings = {
  binary: needed('FLIGHTDECK_BINARY'),
  chromium: needed('FLIGHTDECK_CHROMIUM'),
  /** Whether the screenshots become the references. */
  isUpdate: process.env['FLIGHTDECK_UPDATE'] === '1',
  /** A page to show instead of the one in the binary; empty for none. */
  page: process.env['FLIGHTDECK_PAGE'] ?? '',
  /** Where the gallery's pictures go; empty for none. */
  gallery: process.env['FLIGHTDECK_GALLERY'] ?? '',
  fixture: join(here, 'fixture'),
  references: join(here, 'screenshots'),
  /** Pictures of what went wrong; kept if something did. */
  failures: join(tmpdir(), 'flightdeck-browser'),
} as const;

const scratch = mkdtempSync(join(tmpdir(), 'flightdeck-browser-'));
process.on('exit', () => rmSync(scratch, {recursive: true, force: true}));

/** An empty folder that is removed at the end. */
export function emptyFolder(): string {
  return mkdtempSync(join(scratch, 'folder-'));
}
