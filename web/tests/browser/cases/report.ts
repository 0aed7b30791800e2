// SPDX-License-Identifier: MIT
// The report: one file, opened from disk.
import assert from 'node:assert';
import {pageTest} from '../harness/browser';
import {fixtureFolder, SGD} from '../harness/fixture';
import {exported} from '../harness/flightdeck';
import {drag, eventually, hover, panel, pixels} from '../harness/panels';
import {openReport, reportAddress} from '../harness/report';
import {saved} from './exports';

pageTest('a report opens from disk with the summary first, asks for nothing, and its panels work', async (page, watch) => {
  await openReport(page);
  const summary = page.getByRole('region', {name: 'Summary of the run'});
  assert.match(await summary.innerText(), /mnist_mlp/);
  const top = async (place: ReturnType<typeof panel>) => (await place.boundingBox())?.y ?? NaN;
  assert.ok(await top(summary) < await top(panel(page, 'Alpha')));

  const norm = panel(page, 'Gradient norm');
  const {step, values} = await hover(page, norm, 0.4);
  assert.strictEqual(values['gradient norm'], (await exported(fixtureFolder(), SGD, 'grad_norm')).get(step));
  await drag(page, norm, 0.3, 0.7);
  await page.getByRole('button', {name: /^Steps \d+–\d+/}).click();
  const entries = panel(page, 'Gradient entries');
  const before = await pixels(entries);
  await page.getByRole('slider', {name: 'Step', exact: true}).fill('8');
  await eventually('histograms follow the slider', async () => await pixels(entries) !== before);
  const {bytes} = await saved(page, 'Gradient norm', 'Values as CSV');
  assert.match(bytes.toString(), /^step,/);

  for (const view of ['Layers', 'Run', 'Cockpit']) {
    await page.getByRole('link', {name: view, exact: true}).click();
    await eventually(`${view} is shown`, async () => (await page.getByRole('main').innerText()).length > 200);
    assert.strictEqual(await page.getByRole('alert').count(), 0);
  }
  const address = await reportAddress();
  assert.deepStrictEqual(watch.requests.filter((each) => !each.startsWith(address) && !/^(blob|data):/.test(each)), []);
});
