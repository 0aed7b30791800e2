// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {countInBins, density, finite, kernelWidth, largest, lastPart, logFraction, marginals, median, quantile, rates,
  smallest} from '../src/base/statistics';
import {randomNumbers} from './fake_source';

const random = randomNumbers(5);
const noise = (count: number) => Float64Array.from({length: count}, () => 4 * random() - 2);
const near = (a: number, b: number, tolerance: number) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

test('finite leaves out not-a-numbers and infinities and keeps the order', () => {
  assert.deepEqual([...finite([3, NaN, 1, Infinity, -Infinity, 2])], [3, 1, 2]);
});

test('half of the values lie on either side of the median', () => {
  for (const count of [1, 2, 3, 10, 101, 500]) {
    const values = noise(count);
    const middle = median(values);
    const below = values.filter((value) => value < middle).length;
    const above = values.filter((value) => value > middle).length;
    assert.equal(below, above);
  }
});

test('the median of none is not a number, infinities count as extremes', () => {
  assert.ok(Number.isNaN(median([])));
  assert.ok(Number.isNaN(median([NaN, NaN])));
  assert.equal(median([Infinity, 1, -Infinity]), 1);
  assert.equal(median([Infinity, Infinity]), Infinity);
});

test('quantiles are the order statistics and lie between them', () => {
  const sorted = noise(21).sort();
  for (let i = 0; i <= 20; ++i) near(quantile(sorted, i / 20), sorted[i] as number, 1e-12);
  near(quantile(sorted, 0.5 / 20), ((sorted[0] as number) + (sorted[1] as number)) / 2, 1e-12);
  assert.equal(quantile(sorted, -1), sorted[0]);
  assert.equal(quantile(sorted, 2), sorted[20]);
});

test('the last tenth is at least one value and rounds up', () => {
  const sizes: [number, number][] = [[0, 0], [1, 1], [9, 1], [10, 1], [11, 2], [20, 2], [30, 3], [70, 7], [100, 10], [1001, 101]];
  for (const [count, expected] of sizes) {
    const part = lastPart(Float64Array.from({length: count}, (_, i) => i), 0.1);
    assert.equal(part.length, expected, `of ${count}`);
    if (count > 0) assert.equal(part[part.length - 1], count - 1);
  }
});

test('bins count as a loop over their edges does', () => {
  const values = [...noise(2000), -2, 2, -2.5, 3, Infinity, -Infinity, NaN];
  const counted = countInBins(values, -1.5, 1.5, 12);
  for (let bin = 0; bin < 12; ++bin) {
    const low = -1.5 + 0.25 * bin;
    const inside = values.filter((value) => value >= low && (value < low + 0.25 || (bin === 11 && value === 1.5)));
    assert.equal(counted.counts[bin], inside.length);
  }
  assert.equal(counted.below, values.filter((value) => value < -1.5).length);
  assert.equal(counted.above, values.filter((value) => value > 1.5).length);
  assert.equal(counted.notANumber, 1);
});

test('the smoothed distribution equals the sum of kernels at bin centres', () => {
  const bins = 80;
  const centres = Float64Array.from({length: bins}, (_, i) => -2 + (i + 0.5) * 0.05);
  const values = Float64Array.from({length: 300}, () => centres[Math.floor(random() * bins)] as number);
  const width = 0.2;
  const curve = density(values, -2, 2, bins, width);
  centres.forEach((at, i) => {
    const direct = values.reduce((sum, value) => sum + Math.exp(-0.5 * ((at - value) / width) ** 2), 0) /
      (values.length * width * Math.sqrt(2 * Math.PI));
    near(curve[i] as number, direct, 1e-12);
  });
});

test('a smoothed distribution has mass one, less what lies outside', () => {
  const inside = noise(500).map((value) => value / 4);
  const mass = (values: ArrayLike<number>) => density(values, -2, 2, 160, 0.1).reduce((sum, value) => sum + value / 40, 0);
  near(mass(inside), 1, 1e-6);
  near(mass([...inside, ...new Array<number>(500).fill(7)]), 0.5, 1e-6);
  assert.equal(mass([]), 0);
  assert.equal(mass([NaN, Infinity]), 0);
});

test('the kernel of equal values is narrow and that of spread ones follows their deviation', () => {
  assert.equal(kernelWidth([]), 0);
  assert.equal(kernelWidth([3]), 0);
  assert.equal(kernelWidth([3, 3, 3, 3]), 0);
  const values = noise(400);
  near(kernelWidth(values.map((value) => 10 * value)), 10 * kernelWidth(values), 1e-9);
});

test('a logarithmic fraction is empty for none, one for the most, and grows between', () => {
  assert.ok(Number.isNaN(logFraction(0, 10)));
  assert.equal(logFraction(10, 10), 1);
  assert.equal(logFraction(1, 1), 1);
  for (let count = 1; count < 10; ++count) assert.ok(logFraction(count, 10) < logFraction(count + 1, 10));
});

test('marginals are the sums over rows and over columns', () => {
  const table = Array.from({length: 5}, () => Array.from({length: 7}, () => Math.floor(random() * 9)));
  const sums = marginals(table.flat(), 5, 7);
  assert.deepEqual([...sums.rows], table.map((row) => row.reduce((a, b) => a + b)));
  assert.deepEqual([...sums.columns], table[0]?.map((_, i) => table.reduce((sum, row) => sum + (row[i] as number), 0)));
});

test('marginals of a table without its entries are zero', () => {
  assert.deepEqual([...marginals([], 2, 3).rows], [0, 0]);
});

test('rates are differences over the steps between', () => {
  assert.deepEqual([...rates([0, 10, 15], [1, 2, 4])], [0.1, 0.4]);
  assert.equal(rates([3], [1]).length, 0);
  assert.equal(rates([], []).length, 0);
});

test('extremes pass over what is not finite', () => {
  assert.equal(largest([NaN, 2, Infinity, -1], 9), 2);
  assert.equal(smallest([NaN, 2, -Infinity, -1], 9), -1);
  assert.equal(largest([NaN], 9), 9);
  assert.equal(smallest([], 9), 9);
});
