// SPDX-License-Identifier: MIT
// Names of quantities.
import assert from 'node:assert/strict';
import test from 'node:test';
import {titleOf} from '../src/app/views/titles';

test('a quantity is called as its instrument, or in plain words', () => {
  assert.equal(titleOf('grad_norm'), 'Gradient norm');
  assert.equal(titleOf('valid_loss'), 'Validation loss');
  assert.equal(titleOf('my_own_value/left_part'), 'My own value: left part');
});
