// SPDX-License-Identifier: MIT
// The panels of lines: which lines, on which side, with which scale and guides.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {Instrument} from '../src/app/instrument';
import activationGradients from '../src/instruments/activation_gradients';
import activationScale from '../src/instruments/activation_scale';
import attention from '../src/instruments/attention';
import cabs from '../src/instruments/cabs';
import deadUnits from '../src/instruments/dead_units';
import distances from '../src/instruments/distances';
import eigenSolver from '../src/instruments/eigen_solver';
import gradNoiseScale from '../src/instruments/grad_noise_scale';
import hessMaxEv from '../src/instruments/hess_max_ev';
import hyperparameters from '../src/instruments/hyperparameters';
import losses from '../src/instruments/losses';
import parameters from '../src/instruments/parameters';
import spikes from '../src/instruments/spikes';
import tic from '../src/instruments/tic';
import time from '../src/instruments/time';
import trained from '../src/instruments/trained';
import updateRatio from '../src/instruments/update_ratio';
import type {Line, LinesDrawing} from '../src/widgets/drawing';
import {FakeSource} from './fake_source';
import {type Made, madeReadings, readInstrument} from './read_instrument';

const of = (...values: number[]) => ({values: Float64Array.from(values)});

function linesOf(instrument: Instrument, made: Made): LinesDrawing {
  const drawing = instrument.view(madeReadings(made));
  assert.equal(drawing?.kind, 'lines');
  return drawing as LinesDrawing;
}

const labels = ({lines}: LinesDrawing) => lines.map(({label}) => label);
const values = (line: Line | undefined) => [...(line?.points.values ?? [])];

test('distance and update size have a scale each, and either stands alone on the left', () => {
  const both = linesOf(distances, {numbers: {distance: of(1), update_size: of(0.01)}});
  assert.deepEqual(both.lines.map(({side}) => side ?? 'left'), ['left', 'right']);
  assert.equal(both.yRight, 'update size');
  const alone = linesOf(distances, {numbers: {update_size: of(0.01)}});
  assert.deepEqual([alone.lines[0]?.side, alone.y, alone.yRight], ['left', 'update size', undefined]);
});

test('eigenvalues that did not converge are marked by dots at their place', () => {
  const drawing = linesOf(hessMaxEv, {numbers: {hess_max_ev: of(1, 2, 3), 'hess_max_ev/converged': of(1, 0, 1)}});
  assert.deepEqual(labels(drawing), ['largest', 'largest, not converged']);
  assert.deepEqual([[...(drawing.lines[1]?.points.steps ?? [])], values(drawing.lines[1])], [[1], [2]]);
  assert.ok(drawing.lines[1]?.dots);
});

test('a reduced entry is marked if one of the values it stands for did not converge', () => {
  const low = Float64Array.from([1, 0]);
  const drawing = linesOf(hessMaxEv, {numbers: {
    hess_max_ev: {...of(5, 6), reduced: true, count: 20, low: of(1, 1).values, high: of(9, 9).values},
    'hess_max_ev/converged': {...of(1, 1), reduced: true, count: 20, low, high: of(1, 1).values}}});
  assert.deepEqual(values(drawing.lines[1]), [6]);
});

test('eigenvalues are logarithmic while positive and linear with negative ones', () => {
  assert.equal(linesOf(hessMaxEv, {numbers: {hess_max_ev: of(1, 100)}}).scale, 'log');
  const both = linesOf(hessMaxEv, {numbers: {hess_max_ev: of(1, 100), hess_min_ev: of(-3, -1)}});
  assert.equal(both.scale, 'linear');
  assert.deepEqual(both.guides?.map(({value}) => value), [0]);
});

test('a negative value that is hidden in a reduced entry asks for a linear scale', () => {
  const drawing = linesOf(tic, {numbers: {tic_diag: {...of(5), reduced: true, count: 9, low: of(-1).values, high: of(7).values}}});
  assert.equal(drawing.scale, 'linear');
});

test('the two criteria of Takeuchi have a scale each', () => {
  const drawing = linesOf(tic, {numbers: {tic_diag: of(5), tic_trace: of(50)}});
  assert.deepEqual([drawing.y, drawing.yRight, drawing.scale], ['by diagonal', 'by traces', 'log']);
});

test('the batch size in use is a guide where one is suggested, if the run tells it', () => {
  for (const [instrument, name] of [[cabs, 'cabs'], [gradNoiseScale, 'grad_noise_scale']] as const) {
    const numbers = {[name]: of(40)};
    assert.deepEqual(linesOf(instrument, {numbers, config: {batch_size: '128'}}).guides, [{value: 128, label: 'batch size 128'}]);
    for (const config of [{}, {batch_size: ''}, {batch_size: 'many'}, {batch_size: '-1'}] as Record<string, string>[]) {
      assert.deepEqual(linesOf(instrument, {numbers, config}).guides, []);
    }
  }
});

test('a negative noise scale asks for a linear axis', () => {
  assert.equal(linesOf(gradNoiseScale, {numbers: {grad_noise_scale: of(40, -3)}}).scale, 'linear');
});

test('the learning rate stands on the left, others on the right, none of them smoothed', () => {
  const drawing = linesOf(hyperparameters, {numbers: {batch_size: of(128), learning_rate: of(0.1), momentum: of(0.9)}});
  assert.deepEqual(labels(drawing), ['learning rate', 'momentum', 'batch size']);
  assert.deepEqual(drawing.lines.map(({side}) => side), ['left', 'right', 'right']);
  assert.ok(drawing.lines.every(({exact}) => exact));
  assert.equal(linesOf(hyperparameters, {numbers: {learning_rate: of(0.1, 0)}}).scale, 'linear');
});

test('only the loss of mini-batches is smoothed', () => {
  const drawing = linesOf(losses, {numbers: {loss: of(1), train_loss: of(1), valid_loss: of(2), test_loss: of(3)}});
  assert.deepEqual(drawing.lines.map(({label, exact}) => [label, exact]),
    [['mini-batch', false], ['training', true], ['validation', true], ['test', true]]);
});

test('losses say whether the penalty is part of them where the problem has one', () => {
  const numbers = {loss: of(1), train_loss: of(1)};
  assert.deepEqual(labels(linesOf(losses, {numbers, config: {l2: '0.0005'}})), ['mini-batch without penalty', 'training with penalty']);
  assert.deepEqual(labels(linesOf(losses, {numbers, config: {l2: '0'}})), ['mini-batch', 'training']);
});

test('a line keeps its colour if another was not recorded', () => {
  const all = linesOf(losses, {numbers: {loss: of(1), valid_loss: of(2)}});
  const one = linesOf(losses, {numbers: {valid_loss: of(2)}});
  assert.equal(all.lines[1]?.color, one.lines[0]?.color);
});

test('seconds per step are differences over the steps between', () => {
  const drawing = linesOf(time, {numbers: {time: {...of(1, 2, 4, 0.5), steps: of(0, 10, 14, 15).values}}});
  assert.deepEqual(values(drawing.lines[0]), [0.1, 0.5, NaN]);
  assert.deepEqual([...(drawing.lines[0]?.points.steps ?? [])], [10, 14, 15]);
});

test('a single time gives an empty line, no panel of its own error', () => {
  assert.deepEqual(values(linesOf(time, {numbers: {time: of(3)}}).lines[0]), []);
});

test('few groups have a line each beside the whole model', () => {
  const drawing = linesOf(updateRatio, {numbers: {update_ratio: of(-3), 'update_ratio//a.weight': of(-2), 'update_ratio//a.bias': of(-4)}});
  assert.deepEqual(labels(drawing), ['whole model', 'a.weight', 'a.bias']);
  assert.deepEqual(drawing.guides, [{value: -3, label: 'usual'}]);
});

test('one group and no whole model are drawn', () => {
  assert.deepEqual(labels(linesOf(updateRatio, {numbers: {'update_ratio//a': of(-2)}})), ['a']);
});

test('of a thousand layers the lowest, the middle and the highest are drawn', () => {
  const numbers = Object.fromEntries(Array.from({length: 1001}, (_, i) =>
    [`dead_units/${i}`, of(i - 2000, i === 7 ? NaN : i === 0 ? -Infinity : -3)]));
  const drawing = linesOf(deadUnits, {numbers: {dead_units: of(-3, -3), ...numbers}});
  assert.deepEqual(labels(drawing), ['all layers', 'lowest of 1001', 'middle of 1001', 'highest of 1001']);
  assert.deepEqual(drawing.lines.slice(1).map(values), [[-2000, -Infinity], [-1500, -3], [-1000, -3]]);
});

test('layers recorded at different steps and steps without a number are summarised', () => {
  const numbers = Object.fromEntries(Array.from({length: 13}, (_, i) =>
    [`dead_units/${i}`, {...of(i, NaN), steps: of(i % 2, 5).values}]));
  const [lowest, , highest] = linesOf(deadUnits, {numbers}).lines;
  assert.deepEqual([...(lowest?.points.steps ?? [])], [0, 1, 5]);
  assert.deepEqual(values(lowest), [0, 1, NaN]);
  assert.deepEqual(values(highest), [12, 11, NaN]);
});

test('of a thousand parameters twelve are read and drawn beside the whole model', async () => {
  const source = new FakeSource({parameters: 1000, steps: 50});
  const drawing = updateRatio.view(await readInstrument(updateRatio, source, 'run_0'));
  assert.equal(drawing?.kind === 'lines' && drawing.lines.length, 13);
});

test('dead units have a line for each layer', () => {
  const drawing = linesOf(deadUnits, {numbers: {dead_units: of(0.1), 'dead_units/relu_0': of(0), 'dead_units/relu_1': of(0.2)}});
  assert.deepEqual(labels(drawing), ['all layers', 'relu_0', 'relu_1']);
});

test('parameters show their norm without and with the fields', () => {
  assert.deepEqual(labels(linesOf(parameters, {numbers: {parameters: of(1)}})), ['norm']);
  const drawing = linesOf(parameters, {numbers: {parameters: of(1), 'parameters/mean': of(0), 'parameters/abs_max': of(2)}});
  assert.deepEqual(labels(drawing), ['norm', 'mean', 'abs max']);
});

test('the solver shows both ends of the spectrum, residuals on the right', () => {
  const drawing = linesOf(eigenSolver, {numbers: {'hess_max_ev/products': of(4), 'hess_max_ev/residual': of(0.01),
    'hess_min_ev/products': of(9)}});
  assert.deepEqual(labels(drawing), ['products (largest)', 'residual (largest)', 'products (smallest)']);
  assert.deepEqual(drawing.lines.map(({side}) => side), ['left', 'right', 'left']);
});

test('layers of activations are told from their gradients by the field', () => {
  const numbers = {activation_scale: of(1), 'activation_scale/rms:fc1': of(2), 'activation_scale/kurtosis:fc1': of(3),
    'activation_scale/gradient_rms:fc1': of(0.1), 'activation_scale/gradient_rms:fc2': of(0.2)};
  assert.deepEqual(labels(linesOf(activationScale, {numbers})), ['all layers', 'fc1']);
  assert.deepEqual(labels(linesOf(activationGradients, {numbers})), ['activations of all layers', 'fc1', 'fc2']);
});

test('what is trained is a share on the left, who is left out a number on the right', () => {
  const drawing = linesOf(trained, {numbers: {trained: of(0.5), 'trained/unreachable': of(2), 'wiring/head_softmax': of(1)}});
  assert.deepEqual(drawing.lines.map(({label, side}) => [label, side ?? 'left']),
    [['trained', 'left'], ['not in the loss', 'right'], ['softmax twice', 'right']]);
  assert.equal(drawing.yRight, 'number');
  assert.equal(linesOf(trained, {numbers: {trained: of(1)}}).yRight, undefined);
});

test('spikes have a guide, and are drawn while the update is not known yet', () => {
  const drawing = linesOf(spikes, {numbers: {spikes: of(1, 9)}});
  assert.deepEqual([labels(drawing), drawing.guides?.map(({value}) => value)], [['loss'], [6]]);
});

test('attention shows the layers and leaves lowest heads and spreads to the record', () => {
  const numbers = {attention: of(1), 'attention/entropy:block': of(1), 'attention/entropy_lowest:block': of(0.1),
    'attention/spread:block': of(9)};
  assert.deepEqual(labels(linesOf(attention, {numbers})), ['all layers', 'block']);
});

test('attention of fused kernels shows the bounds of the largest score', () => {
  const drawing = linesOf(attention, {numbers: {'attention/at_least': of(1), 'attention/at_most': of(4), 'attention/at_most:block': of(4)}});
  assert.deepEqual(labels(drawing), ['largest score, at least', 'largest score, at most']);
  assert.equal(drawing.yRight, 'score');
});
