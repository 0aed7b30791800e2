// SPDX-License-Identifier: MIT
// Trees of parameters.
import assert from 'node:assert/strict';
import test from 'node:test';
import {closedToFit, groupMembers, moduleOf, rowsOf, typeOf, type Member} from '../src/base/grouping';

const member = (name: string, ...shape: number[]): Member => ({name, shape});

const NETWORK = [
  member('features.0.weight', 16, 1, 5, 5), member('features.0.bias', 16),
  member('features.3.weight', 32, 16, 5, 5), member('features.3.bias', 32),
  member('norm.weight', 32), member('classifier.weight', 10, 128), member('temperature', 1),
];

test('the module is the name without its last word', () => {
  assert.equal(moduleOf('features.0.weight'), 'features.0');
  assert.equal(moduleOf('temperature'), '');
});

test('types come from names and shapes', () => {
  assert.deepEqual(NETWORK.map(typeOf), ['convolution weight', 'bias', 'convolution weight', 'bias', 'norm weight',
    'linear weight', 'vector']);
  assert.equal(typeOf(member('transformer.wte.weight', 500, 8)), 'embedding weight');
  assert.equal(typeOf(member('features.0.weight')), 'weight');
  assert.equal(typeOf(member('depth 00')), 'other');
});

test('the tree by modules has every member once and joins chains', () => {
  const nodes = groupMembers(NETWORK, 'module');
  assert.deepEqual(nodes.map((node) => node.label), ['(own)', 'features', 'norm', 'classifier']);
  assert.deepEqual(nodes.flatMap((node) => node.members).sort(), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(nodes[1]?.children.map((node) => node.path), ['features.0', 'features.3']);
  const chain = groupMembers([member('a.b.c.weight'), member('a.b.c.bias'), member('d.weight')], 'module');
  assert.deepEqual(chain.map((node) => node.label), ['a.b.c', 'd']);
});

test('names without modules form one group', () => {
  const nodes = groupMembers([member('depth 00'), member('depth 01')], 'module');
  assert.deepEqual(nodes.map((node) => node.path), ['model']);
  assert.deepEqual(nodes[0]?.members, [0, 1]);
});

test('nothing folds into nothing', () => {
  for (const by of ['module', 'type', 'depth'] as const) assert.deepEqual(groupMembers([], by), []);
});

test('depth counts modules in their order', () => {
  const nodes = groupMembers(NETWORK, 'depth');
  assert.deepEqual(nodes.map((node) => node.label), ['depth 0', 'depth 1', 'depth 2', 'depth 3', 'depth 4']);
  assert.deepEqual(nodes[1]?.members, [2, 3]);
});

test('many depths share buckets', () => {
  const members = Array.from({length: 100}, (_, i) => member(`layers.${i}.weight`));
  const nodes = groupMembers(members, 'depth');
  assert.equal(nodes.length, 12);
  assert.equal(nodes[0]?.label, 'depth 00 to 08');
  assert.equal(nodes[11]?.label, 'depth 99');
});

test('a closed node is one row and an open one its members', () => {
  const nodes = groupMembers(NETWORK, 'module');
  const names = NETWORK.map((each) => each.name);
  const rows = rowsOf(nodes, names, new Set(['features']));
  assert.deepEqual(rows.map((row) => row.label), ['temperature', 'features (4)', 'norm.weight', 'classifier.weight']);
  assert.deepEqual(rows[1]?.members, [0, 1, 2, 3]);
  assert.equal(rowsOf(nodes, names, new Set()).length, NETWORK.length);
});

test('a thousand parameters fold to few rows and none is lost', () => {
  const members = Array.from({length: 1000}, (_, i) =>
    member(`model.layers.${Math.floor(i / 20)}.block.${Math.floor((i % 20) / 2)}.${i % 2 ? 'bias' : 'weight'}`));
  const nodes = groupMembers(members, 'module');
  const closed = closedToFit(nodes, 60);
  const rows = rowsOf(nodes, members.map((each) => each.name), closed);
  assert.equal(rows.length, 50);
  assert.equal(new Set(rows.flatMap((row) => row.members)).size, 1000);
  assert.equal(closedToFit(nodes, 1000).size, 0);
});

test('many modules beside each other are bundled', () => {
  const members = Array.from({length: 1000}, (_, i) => member(`layer_${i >> 1}.${i % 2 ? 'bias' : 'weight'}`));
  const nodes = groupMembers(members, 'module');
  assert.equal(nodes.length, 24);
  assert.equal(nodes[0]?.label, 'layer_0 to layer_20');
  assert.deepEqual(nodes.flatMap((node) => node.members), members.map((_, i) => i));
  assert.equal(rowsOf(nodes, members.map((each) => each.name), closedToFit(nodes, 64)).length, 24);
});
