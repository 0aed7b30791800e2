// SPDX-License-Identifier: MIT
// Differences of configurations.
import assert from 'node:assert/strict';
import test from 'node:test';
import {configDifference} from '../src/base/config_difference';

test('keys that are equal in all runs are told apart from those that differ', () => {
  const difference = configDifference([{a: '1', b: 'x', c: ''}, {a: '2', b: 'x', c: ''}]);
  assert.deepEqual(difference.differing, [{key: 'a', values: ['1', '2']}]);
  assert.deepEqual(difference.same, [{key: 'b', value: 'x'}, {key: 'c', value: ''}]);
});

test('a key that one run lacks differs', () => {
  assert.deepEqual(configDifference([{a: '1'}, {}]).differing, [{key: 'a', values: ['1', undefined]}]);
});

test('how far runs came is no setting', () => {
  assert.deepEqual(configDifference([{steps_taken: '9', diverged_at: '3'}, {steps_taken: '10'}]), {differing: [], same: []});
});

test('names of the language itself are no keys', () => {
  assert.deepEqual(configDifference([{toString: 'x'}, {}]).differing, [{key: 'toString', values: ['x', undefined]}]);
});

test('one run differs from nothing', () => {
  assert.deepEqual(configDifference([{a: '1'}]).differing, []);
  assert.deepEqual(configDifference([]), {differing: [], same: []});
});
