// SPDX-License-Identifier: MIT
// Everybody's page: by keys, on phones and large screens, explained.
import assert from 'node:assert';
import type {Page} from 'playwright-core';
import {pageTest} from '../harness/browser';
import {openFixture, SGD} from '../harness/fixture';
import {eventually, panel} from '../harness/panels';

const VIEWS: readonly [string, string][] = [['', ''], [SGD, 'cockpit'], [SGD, 'diagnosis'], [SGD, 'layers'], [SGD, 'run']];

/** Presses Tab until the focus has been everywhere; returns the controls it did not come to. */
async function walk(page: Page): Promise<{controls: number; missed: string[]}> {
  // In the page: numbers all controls that are seen; radio buttons of a group are one stop.
  const controls = await page.evaluate(() => {
    const all = [...document.querySelectorAll<HTMLElement>('a[href], button, input, select, summary, [tabindex="0"]')];
    const shown = all.filter((element) => element.checkVisibility() && !element.matches(':disabled') &&
      !(element instanceof HTMLInputElement && element.type === 'radio' && !element.checked));
    shown.forEach((element, i) => { element.dataset['stop'] = String(i); });
    document.addEventListener('focusin', (event) => (event.target as HTMLElement).toggleAttribute('data-reached', true));
    document.body.focus();
    return shown.length;
  });
  for (let i = 0; i < controls + 5; ++i) await page.keyboard.press('Tab');
  const missed = await page.locator('[data-stop]:not([data-reached])').evaluateAll((list) => list.map((element) => element.outerHTML.slice(0, 120)));
  return {controls, missed};
}

for (const [run, view] of VIEWS) {
  pageTest(`every control of the ${view || 'first'} page is reached by Tab, and none keeps the focus`, async (page) => {
    await openFixture(page, run, view);
    const {controls, missed} = await walk(page);
    assert.deepStrictEqual(missed, []);
    assert.ok(controls > 10);
  });
}

pageTest('the list of keys opens by ?, keeps the focus inside, and closes by Escape', async (page) => {
  await openFixture(page, SGD);
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', {name: 'Keys'});
  await keys.waitFor();
  await page.keyboard.press('Escape');
  await keys.waitFor({state: 'hidden'});
});

pageTest('the link to the panels is the first stop and jumps over the bar', async (page) => {
  await openFixture(page, SGD);
  await page.keyboard.press('Tab');
  assert.match(await page.evaluate(() => document.activeElement?.textContent ?? ''), /Skip to the panels/);
  await page.keyboard.press('Enter');
  await eventually('it is there', async () => await page.evaluate(() => document.activeElement?.id) === 'content');
});

pageTest('every i opens an explanation of at least two sentences, and Escape closes it', async (page) => {
  await openFixture(page, SGD);
  const titles = await page.locator('[data-panel]').evaluateAll((list) => list.map((each) => each.getAttribute('aria-label') ?? ''));
  assert.ok(titles.length > 20);
  const menus = page.locator('[data-panel]');
  for (const [i, title] of titles.entries()) {
    const place = menus.nth(i);
    await place.getByRole('button', {name: `What ${title} shows`}).click();
    const text = await place.getByRole('note').innerText();
    assert.ok((text.match(/[.;:]\s|\.$/g) ?? []).length >= 2 && text.length > 60, `${title}: ${text}`);
    await page.keyboard.press('Escape');
    await place.getByRole('note').waitFor({state: 'detached'});
  }
  assert.strictEqual(await panel(page, 'Alpha').count(), 1);
});

for (const width of [390, 1440, 3840]) {
  pageTest(`no view is wider than a screen of ${width} pixels`, async (page) => {
    for (const [run, view] of VIEWS) {
      await openFixture(page, run, view);
      const {inner, content, widest} = await page.evaluate(() => {
        const limit = document.documentElement.clientWidth;
        const isClipped = (element: Element | null): boolean => element !== null && element !== document.documentElement &&
          (getComputedStyle(element).overflowX !== 'visible' || isClipped(element.parentElement));
        const over = [...document.querySelectorAll('main *')].find((element) =>
          element.getBoundingClientRect().right > limit + 1 && !isClipped(element.parentElement));
        return {inner: limit, content: document.documentElement.scrollWidth, widest: over?.outerHTML.slice(0, 160)};
      });
      assert.ok(content <= inner, `${view || 'compare'}: ${content} > ${inner}: ${widest}`);
    }
  }, {width, height: width === 390 ? 844 : width === 3840 ? 2160 : 900});
}
