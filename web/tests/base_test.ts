// SPDX-License-Identifier: MIT
// Numbers, ticks, scales and smoothing.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {decimalPads} from '../src/base/align_decimals';
import {fileName, formatDuration, formatNumber, formatStep} from '../src/base/format';
import {fraction, placedStep, stepScale, stepTicks, valueScale, ZERO_ON_LOG} from '../src/base/scale';
import {smoothed} from '../src/base/smoothing';
import {linearTicks, logTicks, tickLabel, tickLabels} from '../src/base/ticks';
import {Watched} from '../src/base/watched';

test('a number has at most five significant digits', () => {
  assert.equal(formatNumber(0.123456789), '0.12346');
  assert.equal(formatNumber(1.5), '1.5');
  assert.equal(formatNumber(-12345.678), '−12346');
  assert.equal(formatNumber(123456), '123456');
  assert.equal(formatNumber(756702.31), '756702');
  assert.equal(formatNumber(1.23456789e-7), '1.2346e−7');
  assert.equal(formatNumber(2.5e12), '2.5e12');
  assert.equal(formatNumber(0), '0');
});

test('what is no ordinary number has a name', () => {
  assert.deepEqual([NaN, Infinity, -Infinity].map(formatNumber), ['NaN', '∞', '−∞']);
});

test('steps are grouped by thousands, durations have the units people use', () => {
  assert.equal(formatStep(1234567), '1\u202f234\u202f567');
  assert.equal(formatStep(999), '999');
  assert.equal(formatDuration(3.21), '3.2 s');
  assert.equal(formatDuration(125), '2 min 5 s');
  assert.equal(formatDuration(7260), '2 h 1 min');
});

test('a file name has no character that a file system refuses', () => {
  assert.equal(fileName('runs/first', 'a b: c'), 'runs_first_a_b_c');
});

test('linear ticks are round and inside', () => {
  assert.deepEqual(linearTicks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(linearTicks(0.12, 0.31, 4), [0.15, 0.2, 0.25, 0.3]);
  assert.deepEqual(linearTicks(-1, 1, 4), [-1, -0.5, 0, 0.5, 1]);
  assert.deepEqual(linearTicks(3, 3, 4), [3]);
  assert.deepEqual(linearTicks(NaN, 1, 4), []);
});

test('logarithmic ticks are powers of ten, with others between them while there are few', () => {
  assert.deepEqual(logTicks(1, 1000, 5), [1, 10, 100, 1000]);
  assert.deepEqual(logTicks(1, 20, 5), [1, 2, 5, 10, 20]);
  assert.ok(logTicks(1e-30, 1e30, 5).length <= 8);
  assert.deepEqual(logTicks(-1, 10, 5), []);
});

test('a short logarithmic axis has three ticks and more', () => {
  for (const [low, high] of [[0.15, 40], [3, 16], [1.1, 9], [0.2, 0.33], [95, 205], [0.9, 11]] as const) {
    const ticks = logTicks(low, high, 4.7);
    assert.ok(ticks.length >= 3 && ticks.length <= 8, `${low} to ${high}: ${ticks.join()}`);
  }
});

test('the ticks of an axis share one notation', () => {
  assert.deepEqual(tickLabels([0.00095, 0.001, 0.00105]), ['0.00095', '0.001', '0.00105']);
  assert.deepEqual(tickLabels([0, 5000, 10000, 15000]), ['0', '5k', '10k', '15k']);
  assert.deepEqual(tickLabels([1e-5, 1e-3, 0.1, 10]), ['1e−5', '1e−3', '1e−1', '1e1']);
  assert.deepEqual(tickLabels([1, 1000, 1e6]), ['1', '1k', '1M']);
  assert.deepEqual(tickLabels([1, 1e7, 1e14]), ['1e0', '1e7', '1e14']);
  assert.deepEqual(tickLabels([-0.0002, 0, 0.0002]), ['−0.0002', '0', '0.0002']);
  assert.deepEqual(tickLabels([0]), ['0']);
});

test('the points of numbers in a column stand below each other', () => {
  const texts = ['0.15625', '2.3', '12', 'NaN', '', '1.5e−7'];
  const pads = decimalPads(texts);
  assert.deepEqual(pads, ['', '0000', '.00000', '', '', '0']);
  const behind = texts.map((text, i) => (text + pads[i]).length - text.replace(/[.e].*$/, '').length);
  assert.deepEqual([behind[0], behind[1], behind[2], behind[5]], [6, 6, 6, 6]);
});

test('tick labels are short', () => {
  assert.deepEqual([20000, 1500, 2e6, 3e7, 1e-5, 0.1 + 0.2, 0].map(tickLabel), ['20k', '1500', '2M', '30M', '1e−5', '0.3', '0']);
});

test('on a logarithmic axis step 0 stands at the left edge, before step 1', () => {
  const scale = stepScale(0, 1000, true);
  assert.equal(placedStep(0, true), ZERO_ON_LOG);
  assert.equal(fraction(scale, placedStep(0, true)), 0);
  assert.ok(fraction(scale, 1) > 0);
  assert.equal(fraction(scale, 1000), 1);
  assert.deepEqual(stepTicks(scale, 5), [1, 10, 100, 1000]);
});

test('an axis is never of no width', () => {
  for (const isLog of [false, true]) {
    for (const [low, high] of [[0, 0], [3, 3], [NaN, NaN], [Infinity, -Infinity], [-2, -2]] as const) {
      const scale = valueScale(low, high, isLog);
      assert.ok(scale.high > scale.low && Number.isFinite(scale.high), `${low} ${high} ${isLog}`);
      assert.ok(!isLog || scale.low > 0);
    }
    assert.ok(stepScale(0, 0, isLog).high > stepScale(0, 0, isLog).low);
  }
});

test('an axis of values that are not negative begins at 0 if they come near it', () => {
  assert.equal(valueScale(0.01, 10, false).low, 0);
  assert.ok(valueScale(5, 10, false).low > 0);
});

test('smoothing keeps a constant, begins unbiased and approaches a jump', () => {
  assert.deepEqual([...smoothed([2, 2, 2], 0.9)].map((v) => v.toFixed(12)), Array(3).fill('2.000000000000'));
  const jump = smoothed([0, 0, ...new Array<number>(100).fill(1)], 0.5);
  assert.equal(jump[0], 0);
  assert.ok(Math.abs((jump[101] as number) - 1) < 1e-9);
  assert.deepEqual([...smoothed([1, 5, 3], 0)], [1, 5, 3]);
});

test('smoothing is the weighted mean by its definition', () => {
  const [values, f] = [[3, -1, 4, 1, -5], 0.7];
  smoothed(values, f).forEach((value, i) => {
    let [sum, weight] = [0, 0];
    for (let k = 0; k <= i; ++k) {
      sum += f ** (i - k) * (values[k] as number);
      weight += f ** (i - k);
    }
    assert.ok(Math.abs(value - sum / weight) < 1e-12);
  });
});

test('smoothing passes over what is not finite', () => {
  const result = smoothed([1, NaN, Infinity, 1], 0.5);
  assert.ok(Number.isNaN(result[1]));
  assert.equal(result[2], Infinity);
  assert.ok(Math.abs((result[3] as number) - 1) < 1e-12);
});

test('a watched value tells changes only, and stops when asked to', () => {
  const watched = new Watched(1);
  let told = 0;
  const stop = watched.watch(() => { ++told; });
  watched.set(1);
  watched.set(2);
  stop();
  watched.set(3);
  assert.equal(told, 1);
});

test('no two labels of an axis are the same, however close its ticks lie', () => {
  assert.deepEqual(tickLabels([0, 0.5, 1]), ['0', '0.5', '1']);
  assert.deepEqual(tickLabels(linearTicks(79.555, 79.55504, 4)), ['79.555', '79.55501', '79.55502', '79.55503', '79.55504']);
  assert.deepEqual(tickLabels([1000001, 1000002]), ['1000001', '1000002']);
  assert.deepEqual(tickLabels([1234.56789012, 1234.56789013]), ['1234.6', '+1e−8']);
});
