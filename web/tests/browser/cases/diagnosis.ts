// SPDX-License-Identifier: MIT
// The diagnosis: from the sentence to the panel that shows its evidence.
import assert from 'node:assert';
import {pageTest} from '../harness/browser';
import {fixtureFolder, openFixture, SGD} from '../harness/fixture';
import {flightdeck} from '../harness/flightdeck';
import {eventually} from '../harness/panels';
import {openReport} from '../harness/report';
import {join} from 'node:path';

pageTest('the cockpit says what flightdeck diagnose says, and leads to how it is known, a panel and the page about a cause', async (page) => {
  const told = JSON.parse(await flightdeck('diagnose', join(fixtureFolder(), SGD), '--json')) as {sentence: string; causes: {sentence: string; for: unknown[]; against: unknown[]}[]};
  await openFixture(page, SGD);
  const line = page.locator('.diagnosis-line');
  assert.strictEqual(await line.locator('strong').innerText(), told.sentence);
  await line.getByRole('link').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', {name: told.sentence}).waitFor();
  assert.deepStrictEqual(await page.locator('.cause-name').allTextContents(), told.causes.map(({sentence}) => sentence));

  // All evidence, by keyboard: a closed cause opens as any summary does.
  const at = told.causes.findIndex((cause) => cause.for.length + cause.against.length > 0);
  const cause = page.locator('.cause').nth(at);
  if (await cause.getAttribute('open') === null) {
    await page.locator('.more-causes').evaluateAll((all) => all.forEach((each) => each.setAttribute('open', '')));
    await cause.locator('summary').first().press('Enter');
  }
  await cause.locator('.evidence canvas').first().waitFor();
  const look = cause.locator('.panel-links a').first();
  const title = await look.innerText();
  await look.press('Enter');
  const marked = page.locator('.marked');
  await marked.waitFor();
  assert.strictEqual(await marked.getAttribute('aria-label'), title);
  await eventually('it has the focus', () => marked.evaluate((element) => element === document.activeElement));
  await eventually('it is in sight', () => marked.evaluate((element) => {
    const {top, bottom} = element.getBoundingClientRect();
    return top >= 0 && top < window.innerHeight && bottom > 0;
  }));

  await page.goBack();
  await cause.locator('> p a').first().click();
  await page.locator('.causes-view .marked').waitFor();
  assert.match(await page.locator('.causes-view .marked').innerText(), /What happens\.[^]*How to check\.[^]*What to change\./);
});

pageTest('a report has the diagnosis, its pictures and the page about causes', async (page) => {
  await openReport(page);
  await page.locator('.diagnosis-line a').click();
  await page.locator('.verdict').waitFor();
  const summary = page.locator('.cause summary').first();
  if (await page.locator('.cause').first().getAttribute('open') === null) await summary.click();
  assert.strictEqual(await page.getByRole('alert').count(), 0);
  await page.locator('.cause').first().locator('> p a').first().click();
  await page.locator('.causes-view .marked').waitFor();
});
