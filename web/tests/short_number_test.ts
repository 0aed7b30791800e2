// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {shortCount, shortNumber} from '../src/base/short_number';

test('numbers are short, with a true minus sign and a name for what is not finite', () => {
  const expected: [number, string][] = [[0, '0'], [-0, '0'], [1, '1'], [-0.5, '−0.5'], [0.012345, '0.0123'], [1234.5, '1235'],
    [99999, '99999'], [123456, '1.23e5'], [-1.5e-7, '−1.5e−7'], [NaN, 'NaN'], [Infinity, '∞'], [-Infinity, '−∞']];
  for (const [value, text] of expected) assert.equal(shortNumber(value), text);
});

test('counts are short and no larger unit is passed over', () => {
  const expected: [number, string][] = [[0, '0'], [7, '7'], [999, '999'], [1000, '1k'], [1234, '1.2k'], [9949, '9.9k'],
    [12345, '12k'], [999499, '999k'], [999600, '1M'], [4.1e6, '4.1M'], [2e9, '2G'], [Infinity, '∞']];
  for (const [count, text] of expected) assert.equal(shortCount(count), text);
});
