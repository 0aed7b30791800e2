// SPDX-License-Identifier: MIT
// The pictures that draw themselves, fed with what real runs may contain.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {Instrument} from '../src/app/instrument';
import alpha from '../src/instruments/alpha';
import confusion from '../src/instruments/confusion';
import finalParameters from '../src/instruments/final_parameters';
import ggnSpectrum from '../src/instruments/ggn_spectrum';
import gradHist1d from '../src/instruments/grad_hist_1d';
import gradHist2d from '../src/instruments/grad_hist_2d';
import gradHist2dLayers from '../src/instruments/grad_hist_2d_layers';
import gradientTests from '../src/instruments/gradient_tests';
import misclassified from '../src/instruments/misclassified';
import sampleOutliersList from '../src/instruments/sample_outliers_list';
import type {SceneDrawing} from '../src/widgets/drawing';
import {type Made, madeReadings} from './read_instrument';
import {paintEverywhere} from './recording_surface';

const column = (...values: number[]) => Float64Array.from(values);
const zeros = (count: number) => new Float64Array(count);

function scene(instrument: Instrument, made: Made): SceneDrawing {
  const drawing = instrument.view(madeReadings(made));
  assert.equal(drawing?.kind, 'scene');
  return drawing as SceneDrawing;
}

function textsOf(drawing: SceneDrawing): string[] {
  return paintEverywhere(drawing).texts.map(({text}) => text);
}

test('alpha tells the medians of all and of the last tenth', () => {
  const values = Float64Array.from({length: 100}, (_, i) => (i < 90 ? -0.5 : 0.25));
  const texts = textsOf(scene(alpha, {numbers: {alpha: {values}}}));
  assert.ok(texts.includes('all (100) median −0.5'));
  assert.ok(texts.includes('last 10 % (10) median 0.25'));
});

test('alpha counts what lies outside the picture', () => {
  const drawing = scene(alpha, {numbers: {alpha: {values: column(-70, -3, -1e12, 0, 0.1, 8, NaN, Infinity, -Infinity)}}});
  const texts = textsOf(drawing);
  assert.ok(texts.includes('◂ 4'));
  assert.ok(texts.includes('2 ▸'));
  assert.ok(texts.includes('1 NaN'));
  assert.match(drawing.words, /4 below −2, 2 above 2, 1 not a number/);
});

test('alpha counts only steps up to the slider', () => {
  const numbers = {alpha: {values: column(-1, -1, -1, 1, 1, 1)}};
  assert.ok(textsOf(scene(alpha, {numbers, step: 2})).includes('all (3) median −1'));
});

test('alpha says that it shows a selection of a reduced series', () => {
  const values = column(0, 0.1, 0.2);
  const drawing = scene(alpha, {numbers: {alpha: {values, reduced: true, count: 300, low: values, high: values}}});
  assert.match(drawing.words, /one step in 100/);
  assert.ok(textsOf(drawing).some((text) => text.includes('one step in 100')));
});

test('alpha without any number in the range says so and still shows the parabola', () => {
  for (const values of [column(NaN), column(9, 9), column(Infinity)]) {
    assert.ok(textsOf(scene(alpha, {numbers: {alpha: {values}}})).includes('no alpha within this range'));
  }
});

test('the hover over alpha tells how many steps ended before that place', () => {
  const drawing = scene(alpha, {numbers: {alpha: {values: column(-1, -1, 1, 1)}}});
  assert.match(drawing.at?.(210, 150, 420, drawing.height(420))?.text ?? '', /all: 50 % up to here/);
  assert.equal(drawing.at?.(1, 150, 420, drawing.height(420)), null);
});

const tests = (norm: number[], inner: number[], ortho: number[]): Made => ({numbers: {
  norm_test: {values: column(...norm)}, inner_test: {values: column(...inner)}, ortho_test: {values: column(...ortho)}}});

test('the disc of the gradient tests has the radius of the norm test in lengths of the arrow', () => {
  const surface = paintEverywhere(scene(gradientTests, tests([0.5], [0.3], [0.4])));
  const radii = surface.circles.map(({radius}) => radius);
  const unit = Math.max(...radii); // the dashed circle around the tip through the foot
  assert.ok(radii.some((radius) => Math.abs(radius - 0.5 * unit) < 1e-9));
  // norm² = inner² + ortho²: both bands touch the disc from within or at it.
  const [across, along] = surface.rects.filter(({width, height}) => width > 20 && height > 20);
  assert.ok(Math.abs((across?.height ?? 0) - 0.8 * unit) < 1e-9);
  assert.ok(Math.abs((along?.width ?? 0) - 0.6 * unit) < 1e-9);
});

test('the gradient tests show the values at the slider and rings of earlier ones', () => {
  const made = tests([3, 2, 1, 0.5], [0, 0, 0, 0], [3, 2, 1, 0.5]);
  assert.ok(textsOf(scene(gradientTests, made)).includes('norm 0.5'));
  const earlier = scene(gradientTests, {...made, step: 1});
  assert.ok(textsOf(earlier).includes('norm 2'));
  assert.equal(paintEverywhere(earlier).circles.length, 4); // earlier ring, unit circle, disc, foot of the arrow
});

test('the gradient tests draw what was recorded of the three', () => {
  const texts = textsOf(scene(gradientTests, {numbers: {inner_test: {values: column(0.2)}}}));
  assert.ok(texts.includes('along 0.2'));
  assert.ok(!texts.some((text) => text.startsWith('norm')));
});

test('the gradient tests of a zero gradient are drawn', () => {
  const texts = textsOf(scene(gradientTests, tests([Infinity], [NaN], [NaN])));
  assert.ok(texts.includes('norm ∞') && texts.includes('along NaN'));
});

const axis = {low: -2, high: 2, count: 100};

test('a histogram shows entries outside its range and not-a-numbers apart', () => {
  const counts = zeros(100).fill(5, 40, 60);
  const drawing = scene(gradHist1d, {frames: {grad_hist_1d: {axes: [axis], counts, below: 12, above: 3_400_000, not_a_number: 9, step: 7}}});
  const texts = textsOf(drawing);
  for (const text of ['12', '3.4M', '9', 'below', 'above', 'NaN', 'step 7', 'gradient entry']) assert.ok(texts.includes(text), text);
});

test('a histogram without entries says so', () => {
  assert.ok(textsOf(scene(gradHist1d, {frames: {grad_hist_1d: {axes: [axis], counts: zeros(100)}}})).includes('no entries in this range'));
  assert.ok(textsOf(scene(gradHist1d, {frames: {grad_hist_1d: {axes: [axis]}}})).includes('no entries in this range'));
});

test('a histogram of one entry, of one bin, of tiny and of huge ranges is drawn', () => {
  const one = zeros(100);
  one[99] = 1;
  const cases = [
    {axes: [axis], counts: one},
    {axes: [{low: -1, high: 1, count: 1}], counts: column(1)},
    {axes: [{low: -5e-7, high: 5e-7, count: 4}], counts: column(1, 2, 3, 4)},
    {axes: [{low: -1e30, high: 1e30, count: 3}], counts: column(1e12, 0, 1e15)},
    {axes: [{low: 0.123456, high: 0.123457, count: 3}], counts: column(1, 0, 1), below: 1e9, above: 1},
  ];
  for (const frame of cases) paintEverywhere(scene(gradHist1d, {frames: {grad_hist_1d: frame}}));
});

test('the hover over a histogram tells the exact count of a bin and of a cap', () => {
  const counts = zeros(100);
  counts[0] = 123_457;
  const drawing = scene(gradHist1d, {frames: {grad_hist_1d: {axes: [axis], counts, below: 77_777}}});
  const found = new Set<string>();
  for (let x = 0; x < 420; x += 0.5) found.add(drawing.at?.(x, 100, 420, drawing.height(420))?.text ?? '');
  assert.ok(found.has('−2 to −1.96\n123457 entries'));
  assert.ok(found.has('below the range: 77777'));
});

const joint = (counts: Float64Array) => ({grad_hist_2d: {counts,
  axes: [{low: -1, high: 1, count: 4}, {low: -2, high: 2, count: 3}]}});

test('the heat map has large gradients at the top and large parameters at the right', () => {
  const counts = zeros(12);
  counts[3 * 3 + 2] = 5; // largest gradient, largest parameter
  const drawing = scene(gradHist2d, {frames: joint(counts)});
  const cells = paintEverywhere(drawing).cellValues;
  // Of three columns the first is empty, and so are the first two rows.
  assert.equal(cells.length, 2 * 2);
  assert.equal(cells.findIndex((value) => !Number.isNaN(value)), 1);
  assert.equal(cells[1], 1);
  const text = drawing.at?.(420 - 70, 75, 420, drawing.height(420))?.text;
  assert.equal(text, 'gradient entry 0.5 to 1\nparameter value 0.667 to 2\n5 entries');
});

test('histograms are shown over the range that has entries, whatever range was recorded', () => {
  const counts = zeros(100).fill(7, 48, 53);
  const narrow = textsOf(scene(gradHist1d, {frames: {grad_hist_1d: {axes: [axis], counts}}}));
  assert.ok(narrow.includes('−0.2') && !narrow.includes('−1'), narrow.join());
  const lone = zeros(100);
  lone[99] = 1;
  const edge = textsOf(scene(gradHist1d, {frames: {grad_hist_1d: {axes: [axis], counts: lone}}}));
  assert.ok(edge.includes('2') && !edge.includes('0.5'), edge.join());
});

test('a heat map without entries says so, and one count is drawn', () => {
  assert.ok(textsOf(scene(gradHist2d, {frames: joint(zeros(12))})).includes('no entries'));
  const one = zeros(12);
  one[0] = 1;
  assert.ok(textsOf(scene(gradHist2d, {frames: joint(one)})).includes('parameter value'));
});

test('a histogram without its axes leaves the panel out', () => {
  assert.equal(gradHist1d.view(madeReadings({frames: {grad_hist_1d: {axes: []}}})), null);
  assert.equal(gradHist2d.view(madeReadings({frames: {grad_hist_2d: {axes: [axis]}}})), null);
});

test('the spectrum draws zero and negative eigenvalues, none, one and many', () => {
  const lists = [column(), column(3), column(5, 1e-9, 0, -1e-12), column(NaN, Infinity), column(0, 0),
    Float64Array.from({length: 200}, (_, i) => 10 ** (3 - i / 10))];
  for (const list of lists) {
    paintEverywhere(scene(ggnSpectrum, {frames: {'ggn_spectrum/eigenvalues': {list}}}));
    paintEverywhere(scene(ggnSpectrum, {frames: {'ggn_spectrum/eigenvalues': {list},
      'ggn_spectrum/slope_snr': {list: list.map(() => 0.01)}, 'ggn_spectrum/curvature_snr': {list: list.map(() => Infinity)}}}));
  }
});

test('the hover over the spectrum tells eigenvalue and ratios', () => {
  const drawing = scene(ggnSpectrum, {frames: {'ggn_spectrum/eigenvalues': {list: column(2.5)}, 'ggn_spectrum/slope_snr': {list: column(0.3)}}});
  assert.equal(drawing.at?.(200, 80, 420, drawing.height(420))?.text, 'eigenvalue 1: 2.5\nslope 0.3');
});

test('the largest samples are named with their norms, also if those are not finite', () => {
  const texts = textsOf(scene(sampleOutliersList, {frames: {
    'sample_outliers/samples': {list: column(123456, 3, 0)}, 'sample_outliers/norms': {list: column(Infinity, 2.5, NaN)}}}));
  for (const text of ['sample 123456', '∞', '2.5', 'NaN', 'gradient norm']) assert.ok(texts.includes(text), text);
});

test('samples whose places in the data set are known go by them, with label and prediction', () => {
  const texts = textsOf(scene(sampleOutliersList, {frames: {
    'sample_outliers/samples': {list: column(5)}, 'sample_outliers/norms': {list: column(2.5)},
    'sample_outliers/ids': {list: column(54321)}, 'sample_outliers/labels': {list: column(3)},
    'sample_outliers/predictions': {list: column(8)}}}));
  for (const text of ['#54321', 'label 3', 'read as 8', 'norm 2.5']) assert.ok(texts.includes(text), text);
});

test('samples that were kept with the record are shown as pictures', () => {
  const surface = paintEverywhere(scene(sampleOutliersList, {frames: {
    'sample_outliers/samples': {list: column(5, 6)}, 'sample_outliers/norms': {list: column(2.5, 1)},
    'sample_outliers/ids': {list: column(54321, 7)},
    'sample_pictures/sample_outliers': {list: column(2, 1, 2, 0, 0xffffff, 0xff0000, 0x102030)}}}));
  const texts = surface.texts.map(({text}) => text);
  for (const text of ['#54321', 'norm 2.5', '#7']) assert.ok(texts.includes(text), text);
});

test('misclassified samples are told with label, prediction and loss, numbers where they are no pictures', () => {
  const made = (pictures: Float64Array): Made => ({frames: {
    'misclassified/ids': {list: column(42, 9999)}, 'misclassified/labels': {list: column(3, 0)},
    'misclassified/predictions': {list: column(8, 1)}, 'misclassified/losses': {list: column(NaN, 11.5)},
    'sample_pictures/misclassified': {list: pictures}}});
  const texts = textsOf(scene(misclassified, made(column(2, 0, 2, 0.5, -1.5, 7, 6))));
  for (const text of ['#42', 'label 3', 'read as 8', 'loss NaN', '#9999', 'loss 11.5', '−1.5']) {
    assert.ok(texts.includes(text), text);
  }
  // A list that does not hold what it says is no picture.
  for (const bad of [column(), column(2, 28, 28, 1), column(NaN, 1, 1), column(1e9, 1e9, 1e9), column(-1, 1, 1)]) {
    assert.ok(textsOf(scene(misclassified, made(bad))).includes('#42'));
  }
});

test('samples of norm zero have bars of no length', () => {
  const surface = paintEverywhere(scene(sampleOutliersList, {frames: {
    'sample_outliers/samples': {list: column(1, 2)}, 'sample_outliers/norms': {list: column(0, 0)}}}));
  assert.ok(surface.rects.filter(({height}) => height === 14).every(({width}) => width === 0));
});

test('a cell has the colour of the layer with the largest share of its own entries, not with the most', () => {
  const axes = [{low: -1, high: 1, count: 2}, {low: -2, high: 2, count: 2}];
  const large = column(1000, 100, 0, 0); // nine tenths of it in the first cell
  const small = column(1, 9, 0, 0); // nine tenths of it in the second
  const made = {frames: {'grad_hist_2d//wide': {axes, counts: large}, 'grad_hist_2d//narrow': {axes, counts: small}}};
  const drawing = scene(gradHist2dLayers, made);
  const {cellValues, texts} = paintEverywhere(drawing);
  for (const name of ['wide', 'narrow', 'gradient entry', 'parameter value']) assert.ok(texts.some(({text}) => text === name), name);
  const layer = cellValues.slice(0, 4).map((value) => Math.floor(value / 32));
  assert.deepEqual(layer, [NaN, NaN, 0, 1]); // the first row of counts is the lowest of the picture
  const text = drawing.at?.(60, drawing.height(420) - 60, 420, drawing.height(420))?.text ?? '';
  assert.ok(text.includes('wide: 1000 (90.9 %)') || text.includes('wide: 1k (90.9 %)'), text);
  assert.match(drawing.words, /2 layers have such a cell/);
});

test('layers share the range that has entries of any of them', () => {
  const axes = [{low: -1, high: 1, count: 10}, {low: -2, high: 2, count: 8}];
  const at = (row: number, cell: number) => zeros(80).fill(7, row * 8 + cell, row * 8 + cell + 1);
  const drawing = scene(gradHist2dLayers, {frames: {'grad_hist_2d//a': {axes, counts: at(4, 3)}, 'grad_hist_2d//b': {axes, counts: at(5, 4)}}});
  const {cellValues, texts} = paintEverywhere(drawing);
  assert.deepEqual(cellValues.filter((value) => !Number.isNaN(value)).map((value) => Math.floor(value / 32)).sort(), [0, 1]);
  assert.ok(!texts.some(({text}) => text === '−2' || text === '2'), texts.map(({text}) => text).join());
});

test('layers are drawn in one picture from two on, with the bins of the first', () => {
  const axes = [{low: -1, high: 1, count: 2}, {low: -2, high: 2, count: 2}];
  const other = [{low: -9, high: 9, count: 2}, {low: -2, high: 2, count: 2}];
  const one = {'grad_hist_2d//a': {axes, counts: zeros(4)}};
  assert.equal(gradHist2dLayers.view(madeReadings({frames: {...one, grad_hist_2d: {axes, counts: zeros(4)}}})), null);
  assert.ok(textsOf(scene(gradHist2dLayers, {frames: {...one, 'grad_hist_2d//b': {axes, counts: zeros(4)}}})).includes('no entries'));
  const texts = textsOf(scene(gradHist2dLayers, {frames: {...one, 'grad_hist_2d//b': {axes: other, counts: column(1, 1, 1, 1)}}}));
  assert.ok(!texts.includes('b'), texts.join());
});

test('confused classes are told by the share of their label, and what is right does not outshine them', () => {
  const axes = [{low: -0.5, high: 2.5, count: 3}, {low: -0.5, high: 2.5, count: 3}];
  const counts = column(90, 10, 0, 5, 5, 0, 0, 0, 0); // nobody has label 2
  const drawing = scene(confusion, {frames: {'misclassified/confusion': {axes, counts}}});
  const {cellValues, texts} = paintEverywhere(drawing);
  assert.deepEqual(cellValues.slice(0, 9).map((value) => (Number.isNaN(value) ? -1 : value)), [-1, 0.2, -1, 1, -1, -1, -1, -1, -1]);
  for (const text of ['label', 'read as', '90', '10', '50']) assert.ok(texts.some((each) => each.text === text), text);
  assert.match(drawing.words, /most: 1 taken for 0 \(50 %\), 0 taken for 1 \(10 %\)/);
  const height = drawing.height(420);
  assert.equal(drawing.at?.(60, 30, 420, height)?.text, 'label 0 read as 0\n90 of 100 samples, 90 %');
  assert.equal(drawing.at?.(10, 30, 420, height), null);
});

test('a model without mistakes, a hundred classes, and axes that do not fit are borne', () => {
  const square = (count: number) => [{low: 0, high: count, count}, {low: 0, high: count, count}];
  assert.match(scene(confusion, {frames: {'misclassified/confusion': {axes: square(2), counts: column(3, 0, 0, 4)}}}).words, /none/);
  paintEverywhere(scene(confusion, {frames: {'misclassified/confusion': {axes: square(100), counts: zeros(10000).fill(2)}}}));
  for (const axes of [[], [axis], [{low: 0, high: 1, count: 2}, {low: 0, high: 1, count: 3}]]) {
    assert.equal(confusion.view(madeReadings({frames: {'misclassified/confusion': {axes, counts: zeros(6)}}})), null);
  }
});

test('final parameters stand as shares of their layers', () => {
  const axes = [{low: -1, high: 1, count: 4}];
  const drawing = scene(finalParameters, {frames: {final_parameters: {axes, counts: column(0, 9, 9, 0)},
    'final_parameters//a': {axes, counts: column(0, 1, 1, 0)}, 'final_parameters//b': {axes, counts: column(0, 8, 8, 0), not_a_number: 3}}});
  const texts = textsOf(drawing);
  for (const text of ['a', 'b', 'share', 'parameter value']) assert.ok(texts.includes(text), text);
  assert.match(drawing.words, /2 layers .*from −0.5 to 0.5. 3 entries are not finite/);
  assert.ok(textsOf(scene(finalParameters, {frames: {final_parameters: {axes, counts: zeros(4)}}})).includes('no entries that are finite'));
});
