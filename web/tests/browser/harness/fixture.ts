// SPDX-License-Identifier: MIT
// The recorded runs of the fixture, served once for all tests that change nothing.
import {after} from 'node:test';
import type {Page} from 'playwright-core';
import {copyOfFixture, Server} from './flightdeck';
import {eventually, loaded} from './panels';

/** Both train mnist_mlp under the full preset with a group for each parameter. */
export const SGD = 'sgd';
export const ADAM = 'adam';

let server: Promise<Server> | undefined;
let copied: string | undefined;
after(async () => (await server)?.kill());

export function fixtureFolder(): string {
  copied ??= copyOfFixture();
  return copied;
}

export async function fixtureAddress(): Promise<string> {
  server ??= Server.start(fixtureFolder());
  return (await server).address;
}

/** Opens a view of a run of the fixture, or with an empty name the page of all runs. */
export async function openFixture(page: Page, run: string, view = 'cockpit'): Promise<void> {
  const address = await fixtureAddress();
  await page.goto(run === '' ? address : `${address}#/run/${run}/${view}`);
  await page.evaluate(() => document.fonts.ready);
  if (run !== '' && view === 'run') await page.getByRole('rowheader', {name: /loss/i}).first().waitFor();
  else if (run !== '' && view === 'diagnosis') {
    await page.locator('.verdict').waitFor();
    await eventually('its pictures are there', async () => await page.locator('.pulse').count() === 0);
  } else await loaded(page);
}

/** Opens one layer of the view of layers. */
export async function openLayer(page: Page): Promise<void> {
  await openFixture(page, SGD, 'layers');
  await page.getByRole('button', {name: 'dense2.weight'}).click();
  await eventually('its panels are drawn', async () => await page.locator('.layer-detail canvas').count() > 3);
}
