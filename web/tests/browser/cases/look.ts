// SPDX-License-Identifier: MIT
// Every view compared with a picture that was looked at.
import assert from 'node:assert';
import {existsSync, readdirSync} from 'node:fs';
import {test} from 'node:test';
import type {Page} from 'playwright-core';
import {pageTest} from '../harness/browser';
import {openFixture, openLayer, SGD} from '../harness/fixture';
import {differenceFrom, looksLike, picture, TOLERANCE} from '../harness/pictures';
import {openReport} from '../harness/report';
import {settings} from '../harness/settings';

interface Look {
  name: string;
  open(page: Page): Promise<void>;
  isPhone?: boolean;
}

/** What a diagnosis says changes with every cause that is added: the picture is of where it stands. */
async function sayingTheSame(page: Page, open: Promise<void>): Promise<void> {
  await open;
  await page.locator('.diagnosis-line strong').evaluate((element) => { element.textContent = 'What the lamps say together'; });
}

const LOOKS: readonly Look[] = [
  {name: 'compare', open: (page) => openFixture(page, '')},
  {name: 'cockpit', open: (page) => sayingTheSame(page, openFixture(page, SGD))},
  {name: 'layers', open: (page) => openFixture(page, SGD, 'layers')},
  {name: 'layer', open: openLayer},
  {name: 'run', open: (page) => openFixture(page, SGD, 'run')},
  {name: 'report', open: (page) => sayingTheSame(page, openReport(page))},
  {name: 'phone_compare', open: (page) => openFixture(page, ''), isPhone: true},
  {name: 'phone_cockpit', open: (page) => sayingTheSame(page, openFixture(page, SGD)), isPhone: true},
  {name: 'phone_layers', open: (page) => openFixture(page, SGD, 'layers'), isPhone: true},
  {name: 'phone_run', open: (page) => openFixture(page, SGD, 'run'), isPhone: true},
];

for (const {name, open, isPhone} of LOOKS) {
  for (const colorScheme of ['light', 'dark'] as const) {
    if (isPhone && colorScheme === 'dark') continue;
    pageTest(`${name} in ${colorScheme} looks as it did when it was looked at`, async (page) => {
      await open(page);
      await looksLike(page, `${name}_${colorScheme}`);
    }, {width: isPhone ? 390 : 1440, height: isPhone ? 844 : 900, context: {colorScheme}});
  }
}

pageTest('a panel that is blank is seen in the comparison, and other fonts are not', async (page) => {
  if (settings.isUpdate) return;
  await sayingTheSame(page, openFixture(page, SGD));
  const worst = async (font?: string) => (await differenceFrom('cockpit_light', await picture(page, font))).worst;
  const style = (selector: string, name: string, value: string) => page.evaluate(([where, what, how]) =>
    document.querySelectorAll<HTMLElement>(where).forEach((element) => element.style.setProperty(what, how)), [selector, name, value] as const);
  const serifs = await worst('DejaVu Serif');
  assert.ok(serifs > 0 && serifs < TOLERANCE, `serifs make a difference of ${serifs}`);
  for (const id of ['tic', 'hess_trace', 'grad_hist_1d']) {
    await style(`[data-panel=${id}] canvas`, 'visibility', 'hidden');
    const difference = await worst();
    assert.ok(difference > TOLERANCE, `without ${id} the difference is ${difference}`);
    await style(`[data-panel=${id}] canvas`, 'visibility', 'visible');
  }
});

void test('every stored screenshot is one of a view', () => {
  if (!existsSync(settings.references)) return;
  const known = LOOKS.flatMap(({name}) => [`${name}_light.png`, `${name}_dark.png`]);
  assert.deepStrictEqual(readdirSync(settings.references).filter((file) => !known.includes(file)), []);
});
