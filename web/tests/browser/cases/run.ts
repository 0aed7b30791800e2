// SPDX-License-Identifier: MIT
// The run view: everything about a run that is no curve.
import assert from 'node:assert';
import {pageTest} from '../harness/browser';
import {fixtureFolder, openFixture, SGD} from '../harness/fixture';
import {exported} from '../harness/flightdeck';
import {eventually} from '../harness/panels';

pageTest('the run view tells settings, plan, coverage, parameters and samples that stand out', async (page) => {
  await openFixture(page, SGD, 'run');
  for (const name of [/^Summary/, /^Settings|^Configuration/i, /^Plan/, /^Coverage/, /^Parameters/, /^Samples that stand out/, /^Series/]) {
    await page.getByRole('heading', {name}).first().waitFor();
  }
  for (const word of ['mnist_mlp', 'dense1.weight', 'exact-fast', 'hess_trace', 'every 4']) {
    await eventually(`${word} is told`, async () => (await page.getByRole('main').innerText()).includes(word));
  }
  const loss = [...(await exported(fixtureFolder(), SGD, 'train_loss')).values()];
  const best = page.getByRole('row').filter({has: page.getByRole('rowheader', {name: /^train(ing)? loss/i})});
  assert.strictEqual(Number(await best.locator('td').first().getAttribute('title')), Math.min(...loss));
});

pageTest('all numbers of a run are downloaded as the tool exports them', async (page) => {
  await openFixture(page, SGD, 'run');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', {name: /^All numbers as CSV/}).first().click()]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  const rows = Buffer.concat(chunks).toString().trim().split('\r\n').map((row) => row.split(','));
  const column = rows[0]?.indexOf('grad_norm') ?? -1;
  assert.ok(column > 0, rows[0]?.slice(0, 8).join());
  const exact = await exported(fixtureFolder(), SGD, 'grad_norm');
  const got = new Map(rows.slice(1).filter((row) => row[column] !== '').map((row) => [Number(row[0]), Number(row[column])]));
  assert.deepStrictEqual(got, exact);
});
