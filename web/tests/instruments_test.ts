// SPDX-License-Identifier: MIT
// Holds the folder of instruments to the catalogue of quantities: nothing recorded goes unseen.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import all from 'instruments';
import type {Place} from '../src/app/instrument';
import {HEADLESS} from '../src/wire/headless';
import {ENDS, HYPERPARAMETERS, RANKS, SAMPLES, SCORES} from '../src/wire/logged_numbers';
import {FakeSource} from './fake_source';
import {madeReadings, readInstrument} from './read_instrument';
import {paintEverywhere} from './recording_surface';

const web = process.env['FLIGHTDECK_WEB'] ?? process.cwd();
// The tool that was built lists the quantities: no copy of its catalogue can be out of date.
const tool = process.env['FLIGHTDECK_TOOL'] ?? join(web, '../build/flightdeck');
const skip = existsSync(tool) ? false : `${tool} was not built`;
const listed = skip ? '[]' : execFileSync(tool, ['list', 'quantities', '--json'], {encoding: 'utf8'});
const quantities = (JSON.parse(listed) as {name: string}[]).map(({name}) => name);
const read = new Set(all.flatMap((instrument) => instrument.reads.map(({quantity}) => quantity)));
const PLACES: readonly Place[] = ['step_size', 'gradients', 'curvature', 'hyperparameters', 'performance', 'ranks', 'more', 'samples'];

test('every quantity of the catalogue has a panel or a reason why not', {skip}, () => {
  for (const name of quantities) {
    assert.ok(read.has(name) !== name in HEADLESS,
      `${name}: add src/instruments/${name}.ts, or a reason to src/wire/headless.ts, and not both`);
  }
});

test('a reason stands for a quantity of the catalogue', {skip}, () => {
  for (const [name, reason] of Object.entries(HEADLESS)) {
    assert.ok(quantities.includes(name), `${name} is not in the catalogue`);
    assert.match(reason, /\w+ \w+/);
  }
});

test('every instrument reads quantities of the catalogue or numbers that loops log', {skip}, () => {
  for (const name of read) {
    assert.ok([...quantities, ...HYPERPARAMETERS, ...SCORES, ...RANKS, ...SAMPLES, ...ENDS].includes(name),
      `${name} is neither a quantity of the tool nor in src/wire/logged_numbers.ts`);
  }
});

test('every instrument is named as its file', () => {
  const files = readdirSync(join(web, 'src/instruments')).filter((name) => !name.startsWith('_')).sort();
  assert.deepEqual(all.map(({id}) => `${id}.ts`), files);
});

test('every instrument explains itself in two sentences', () => {
  for (const {id, explain} of all) {
    assert.match(explain, /^[A-Z][^.]*\. [A-Z][^.]*\.$/, `${id}: what it shows, then how to read it, without dots inside`);
  }
});

test('every instrument has a title, a known place and an order of its own there', () => {
  const taken = new Set<string>();
  for (const {id, title, place, order} of all) {
    assert.match(title, /^[A-Z]/, id);
    assert.ok(PLACES.includes(place), id);
    assert.ok(!taken.has(`${place} ${order}`), `${id}: another panel of ${place} has order ${order}`);
    if (order !== undefined) taken.add(`${place} ${order}`);
  }
});

test('a panel stays short', () => {
  for (const {id} of all) {
    const file = join(web, 'src/instruments', `${id}.ts`);
    assert.ok(existsSync(file) && readFileSync(file, 'utf8').split('\n').length <= 120, id);
  }
});

test('every instrument draws a run that recorded everything', async () => {
  const source = new FakeSource();
  for (const instrument of all) {
    const drawing = instrument.view(await readInstrument(instrument, source, 'run_0'));
    assert.ok(drawing, instrument.id);
    if (drawing.kind === 'scene') paintEverywhere(drawing);
    else assert.ok(drawing.lines.length > 0, instrument.id);
  }
});

test('every instrument draws reduced values and any place of the slider', async () => {
  const source = new FakeSource({steps: 5000, interval: 1});
  for (const instrument of all) {
    for (const step of [0, 1, 2500, 4999]) {
      const drawing = instrument.view(await readInstrument(instrument, source, 'run_1', 200, step));
      assert.ok(drawing, instrument.id);
      if (drawing.kind === 'scene') paintEverywhere(drawing);
    }
  }
});

test('an instrument leaves its panel out if nothing was recorded', () => {
  for (const instrument of all) assert.equal(instrument.view(madeReadings({})), null, instrument.id);
});

const strange: Record<string, number[]> = {
  'no value': [],
  'one value': [0.5],
  'one NaN': [NaN],
  'only NaN': [NaN, NaN, NaN],
  'infinities': [Infinity, -Infinity, Infinity],
  'zeros': [0, 0, 0],
  'huge and tiny values': [1e300, -1e300, 1e-300, 1e38],
  'a jump to NaN': [1, 2, NaN, 3, Infinity],
};

for (const [what, values] of Object.entries(strange)) {
  test(`every instrument of numbers draws ${what}`, () => {
    for (const instrument of all) {
      const numbers = Object.fromEntries(instrument.reads.filter(({frames}) => !frames).flatMap(({quantity, fields}) =>
        ['', ...(fields === 'all' ? ['layer'] : fields ?? [])].map((field) =>
          [`${quantity}/${field}`, {values: Float64Array.from(values)}])));
      const drawing = instrument.view(madeReadings({numbers}));
      if (drawing?.kind === 'scene') paintEverywhere(drawing);
      if (drawing?.kind === 'lines') {
        for (const {points} of drawing.lines) assert.equal(points.steps.length, points.values.length, instrument.id);
      }
    }
  });
}
