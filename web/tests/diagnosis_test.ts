// SPDX-License-Identifier: MIT
// The diagnosis: its words, its pictures, the panels it leads to, and the page of the documents behind it.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {causePages, hasCausePage} from '../src/app/cause_pages';
import {panelsOf, usableInstruments} from '../src/app/usable_instruments';
import {parseRoute, routeAddress} from '../src/app/route';
import {otherFindings, shownCauses} from '../src/app/views/diagnosis_view';
import {listed, percent, samplesText, strength} from '../src/base/evidence';
import {piecesOf, sectionsOf} from '../src/base/marked_text';
import {evidencePicture} from '../src/widgets/scenes/evidence_picture';
import {type Lamp, readDiagnosis} from '../src/wire/types';
import {FakeSource} from './fake_source';
import {paintEverywhere} from './recording_surface';

const column = (...values: number[]) => Float64Array.from(values);
const points = (values: Float64Array, bounds?: {low: Float64Array; high: Float64Array}) => ({id: 1, reduced: bounds !== undefined, count: values.length,
  steps: Float64Array.from(values, (_, i) => 10 * i), values, low: bounds?.low ?? column(), high: bounds?.high ?? column()});
const picture = (values: Float64Array, limits: number[] = [], step = -1) => evidencePicture({series: [{label: 'alpha', points: points(values)}], limits, step});
const textsOf = (drawing: ReturnType<typeof picture>) => paintEverywhere(drawing).texts.map(({text}) => text);

test('a picture of evidence shows steps and limits, and tells its last value in words', () => {
  const drawing = picture(column(0.5, 1.2, 1.6, 1.7), [1], 20);
  assert.deepEqual(textsOf(drawing), ['1', 'step 0', '30']);
  assert.equal(drawing.words, 'alpha: 1.7 at step 30, compared with 1, found at step 20.');
  assert.equal(drawing.at?.(4, 10, 280, 72)?.text, 'alpha 0.5 at step 0');
});

test('a limit far from all values does not press them flat', () => {
  assert.ok(!textsOf(picture(column(1, 1.01, 1.02), [1e9])).includes('1e9'));
  assert.ok(textsOf(picture(column(1, 2, 3), [4])).includes('4'));
});

test('pictures of evidence survive what records may hold', () => {
  const many = Float64Array.from({length: 900}, (_, i) => 10 ** (i / 100 - 3));
  for (const values of [column(), column(NaN), column(Infinity, -Infinity), column(3), column(0, 0, 0), column(-1e300, 1e300), column(NaN, 1, NaN, 2), many]) {
    for (const limits of [[], [0], [0.02, 8], [NaN], [-Infinity, 1e308]]) {
      for (const step of [-1, 0, 1e9]) paintEverywhere(picture(values, limits, step));
    }
  }
  const bounds = {low: column(0, NaN, -1), high: column(2, NaN, 5)};
  paintEverywhere(evidencePicture({series: Array.from({length: 8}, () => ({label: 'x'.repeat(200), points: points(column(1, NaN, 3), bounds)})), limits: [2], step: 10}));
  assert.deepEqual(textsOf(picture(column(NaN))), ['no finite values']);
  assert.deepEqual(textsOf(picture(column())), ['no values yet']);
});

test('probabilities are told without certainty', () => {
  assert.deepEqual([0, 0.004, 0.5, 0.994, 0.9999].map(percent), ['under 1 %', 'under 1 %', '50 %', '99 %', 'over 99 %']);
});

test('the weight of evidence is how often it is seen beside healthy runs', () => {
  assert.equal(strength(Math.log(40)), '40 times as often as in healthy runs');
  assert.equal(strength(Math.log(2.5)), '2.5 times as often as in healthy runs');
  assert.equal(strength(-Math.log(4)), '4 times as rare as in healthy runs');
  assert.equal(strength(1e9), '');
});

test('long lists of layers and samples are counted', () => {
  assert.equal(listed(['a', 'b', 'c'], 2), 'a, b and 1 more');
  assert.equal(samplesText(column(3, 17), true), 'positions in the batch 3, 17');
  assert.equal(samplesText(Float64Array.from({length: 10}, (_, i) => i), false), 'samples 0, 1, 2, 3, 4, 5, 6, 7 and 2 more');
});

test('likely causes are shown, at least three, and none is folded away alone', () => {
  const causes = (...all: number[]) => all.map((probability) => ({probability}));
  assert.equal(shownCauses(causes()), 0);
  assert.equal(shownCauses(causes(0.9)), 1);
  assert.equal(shownCauses(causes(0.4, 0.3, 0.1, 0.06, 0.02, 0.01)), 4);
  assert.equal(shownCauses(causes(0.04, 0.03, 0.02, 0.02)), 4);
  assert.equal(shownCauses(causes(...Array<number>(12).fill(0.02))), 3);
});

test('findings that no evidence tells are told apart', async () => {
  const {lamps, evidence} = await new FakeSource().diagnosis('run_0');
  const lit = {...(lamps[0] as Lamp), title: 'What long_steps says'};
  const dark = {...(lamps[0] as Lamp), title: 'What large_updates says'};
  assert.deepEqual(otherFindings({lamps: [lit, dark, ...lamps], evidence}).map(({title}) => title), ['What large_updates says', 'Remark']);
});

test('evidence leads to the panels that show its quantities', async () => {
  const usable = usableInstruments(await new FakeSource().details('run_0'));
  const ids = (...quantities: string[]) => panelsOf(quantities, usable).map(({id}) => id);
  assert.deepEqual(ids('alpha'), ['alpha']);
  assert.ok(ids('loss', 'logits').includes('losses'));
  assert.deepEqual(ids('no_such_quantity'), []);
  assert.deepEqual(ids(), []);
});

test('a panel of the cockpit has an address of its own', () => {
  const route = {page: 'run', id: 'a/b', view: 'cockpit', place: 'automatic_x y'} as const;
  assert.equal(routeAddress(route), '#/run/a%2Fb/cockpit/automatic_x%20y');
  assert.deepEqual(parseRoute(routeAddress(route)), route);
  assert.deepEqual(parseRoute('#/run/a/cockpit/%'), {page: 'compare'});
});

test('a diagnosis with a verdict that is unknown is refused by name', async () => {
  const known = await new FakeSource().diagnosis('run_0');
  const json = JSON.parse(JSON.stringify(known, (_, value: unknown) => (value instanceof Float64Array ? Array.from(value) : value))) as Record<string, unknown>;
  assert.equal(readDiagnosis(json).causes[0]?.speaks_for[0]?.lamp, 'long_steps');
  assert.throws(() => readDiagnosis({...json, verdict: 'doomed'}), /Diagnosis.verdict is string, not healthy, fault, cannot_tell/);
});

test('sections of a page are its headings with their paragraphs', () => {
  const [first, second, ...others] = sectionsOf('# Page\n\nTo [read](x.md).\n\n## one\n\n**Bold.** A `code`\nline.\n\nNext.\n\n## two\n');
  assert.deepEqual(first, {name: 'one', paragraphs: [[{kind: 'strong', text: 'Bold.'}, {kind: 'text', text: ' A '}, {kind: 'code', text: 'code'}, {kind: 'text', text: ' line.'}],
    [{kind: 'text', text: 'Next.'}]]});
  assert.deepEqual([second, others], [{name: 'two', paragraphs: []}, []]);
  assert.deepEqual(piecesOf('see [the page](a.md)'), [{kind: 'text', text: 'see the page'}]);
});

const tool = process.env['FLIGHTDECK_TOOL'] ?? join(process.env['FLIGHTDECK_WEB'] ?? process.cwd(), '../build/flightdeck');
test('every cause of the tool has its page, with what happens, how to check and what to change', {skip: existsSync(tool) ? false : `${tool} was not built`}, () => {
  const causes = (JSON.parse(execFileSync(tool, ['list', 'causes', '--json'], {encoding: 'utf8'})) as {name: string}[]).map(({name}) => name);
  assert.deepEqual(causes.filter((name) => !hasCausePage(name)), []);
  for (const {name, paragraphs} of causePages) {
    assert.deepEqual(paragraphs.map(([head]) => head?.text), ['What happens.', 'How to check.', 'What to change.'], name);
  }
});
