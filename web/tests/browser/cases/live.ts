// SPDX-License-Identifier: MIT
// A training in another process while the page is open, and a server that dies meanwhile.
import assert from 'node:assert';
import {join} from 'node:path';
import {pageTest} from '../harness/browser';
import {served, Server, Training} from '../harness/flightdeck';
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
    await link.waitFor();
    await link.click();
    const losses = panel(page, 'Losses');
    await losses.locator('canvas').waitFor();
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
    await warning.waitFor({state: 'detached'});
    await eventually('new steps are shown', async () => await shownStep(page) > atDeath.step);
    await eventually('the chart moves again', async () => await pixels(losses) !== atDeath.pixels);

    await training.interrupt();
    await page.getByText('interrupted', {exact: true}).first().waitFor();
  } finally {
    await training.interrupt();
    await server.kill();
  }
}, {expected: NO_SERVER, isAlone: true});

/** In the page: notifications as a list instead of on the screen. */
function rememberNotices(): void {
  const told: string[] = [];
  class Told {
    static permission: NotificationPermission = 'default';
    static requestPermission(): Promise<NotificationPermission> {
      Told.permission = 'granted';
      return Promise.resolve('granted');
    }
    constructor(title: string, options?: NotificationOptions) {
      told.push(`${title}: ${options?.body ?? ''}`);
    }
    close(): void {}
  }
  Object.assign(window, {Notification: Told, told});
}

pageTest('a run that goes on shows how far it is, agrees with itself on the step, and tells of its end if asked to', async (page) => {
  await page.addInitScript(rememberNotices);
  const folder = emptyFolder();
  const training = new Training(join(folder, 'first'));
  try {
    await served(page, folder, async (address) => {
      await page.goto(address);
      await page.getByRole('link', {name: 'first', exact: true}).click();
      await panel(page, 'Losses').locator('canvas').waitFor();
      await eventually('its progress is shown', async () => /\d+ % of 1.000.000 steps/.test(await page.locator('.going').innerText()));
      await eventually('the time left is shown', async () => / left\b/.test(await page.locator('.going').innerText()));
      // One look at the page: all of it was drawn together.
      const steps = () => page.evaluate(() => {
        const digits = (text: string | null | undefined) => Number((text ?? '').replace(/\D/g, ''));
        return [digits(document.querySelector('.run-head dd')?.textContent), digits(document.querySelector('.slider output')?.textContent)];
      });
      for (let i = 0; i < 5; ++i) {
        const [head, slider] = await steps();
        assert.strictEqual(head, slider);
        await eventually('it goes on', async () => (await steps())[0] !== head);
      }

      const told = () => page.evaluate(() => (window as unknown as {told: string[]}).told);
      assert.strictEqual(await page.evaluate(() => Notification.permission), 'default', 'nothing is asked without a click');
      await page.getByRole('button', {name: 'Notify me'}).click();
      await page.getByRole('button', {name: 'Will notify'}).waitFor();
      assert.deepStrictEqual(await told(), []);
      await training.interrupt();
      await eventually('its end is told', async () => (await told()).length > 0);
      assert.match((await told())[0] ?? '', /^Flightdeck: first has ended: interrupted at step \d+, loss/);
      assert.strictEqual(await page.getByRole('button', {name: /notify/i}).count(), 0);
    });
  } finally {
    await training.interrupt();
  }
}, {isAlone: true});
