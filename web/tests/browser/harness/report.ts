// SPDX-License-Identifier: MIT
// The report of a run of the fixture, written once for all tests that read it.
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import type {Page} from 'playwright-core';
import {fixtureFolder, SGD} from './fixture';
import {flightdeck} from './flightdeck';
import {loaded} from './panels';
import {emptyFolder} from './settings';

let written: Promise<string> | undefined;

export async function reportAddress(): Promise<string> {
  written ??= (async () => {
    const file = join(emptyFolder(), 'report.html');
    await flightdeck('report', join(fixtureFolder(), SGD), '-o', file);
    return pathToFileURL(file).href;
  })();
  return written;
}

export async function openReport(page: Page): Promise<void> {
  await page.goto(await reportAddress());
  await loaded(page);
}
