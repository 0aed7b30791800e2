// SPDX-License-Identifier: MIT
// A training in another process while the page is open, and a server that dies meanwhile.
import assert from 'node:assert';
import {join} from 'node:path';
import {pageTest} from '../harness/browser';
import {Server, Training} from '../harness/flightdeck';
import {eventually, panel, pixels, shownStep} from '../harness/panels';
import {emptyFolder} from '../harness/settings';

/** The browser itself complains about a server that is not there. */
const NO_SERVER = /net::ERR_(CONNECTION_(REFUSED|RESET|CLOSED)|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE)/;

pageTest('a run appears on the open page, its charts move, and both survive a killed server', async (page) => {
  const folder = emptyFolder();
  let server = await Server.start(folder);
  await page.goto(server.address);
  await page.getByRole('heading', {name: 'No runs yet'}).waitFor();

  const training = new Training(join(folder, 'first'));
  try {
    const link = page.getByRole('link', {name: 'first', exact: true});
    await link.waitFor({timeout: 30_000});
    await link.click();
    const losses = panel(page, 'Losses');
    await losses.locator('canvas').waitFor({timeout: 30_000});
    await page.getByText('running', {exact: true}).first().waitFor();

    const before = {step: await shownStep(page), pixels: await pixels(losses)};
    await eventually('steps are counted', async () => await shownStep(page) > before.step);
    await eventually('the chart moves', async () => await pixels(losses) !== before.pixels);

    const warning = page.getByText('The server cannot be reached; what you see may be out of date.');
    assert.strictEqual(await warning.count(), 0);
    await server.kill();
    await warning.waitFor();
    const atDeath = {step: await shownStep(page), pixels: await pixels(losses)};
    assert.ok(training.isRunning, 'the training does not mind');
    server = await Server.start(folder, server.port);
    await warning.waitFor({state: 'detached', timeout: 30_000});
    await eventually('new steps are shown', async () => await shownStep(page) > atDeath.step);
    await eventually('the chart moves again', async () => await pixels(losses) !== atDeath.pixels);

    await training.interrupt();
    await page.getByText('interrupted', {exact: true}).first().waitFor();
  } finally {
    await training.interrupt();
    await server.kill();
  }
}, {expected: NO_SERVER});
