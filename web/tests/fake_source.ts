// SPDX-License-Identifier: MIT
// A source without a server: runs made by a formula, with every quantity of the catalogue.
import instruments from 'instruments';
import type {LabelChange, Listener, Source, StepRange} from '../src/wire/source';
import type {Diagnosis, Frame, FrameList, LampList, Points, PointsList, RunDetails, RunList, RunSummary, Series} from '../src/wire/types';

/** A generator of numbers in [0, 1) that is the same everywhere. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface FakeOptions {
  steps?: number;
  /** A tracked step every so many. */
  interval?: number;
  runs?: number;
  parameters?: number;
}

const WHOLE_ONLY = new Set(['loss', 'alpha', 'time', 'hess_max_ev', 'hess_min_ev', 'train_loss', 'valid_loss',
  'test_loss', 'train_accuracy', 'valid_accuracy', 'test_accuracy', 'learning_rate', 'batch_accuracy', 'rank_drift', 'rank_twins', 'rank_streams', 'rank_overlap']);
/** All numbers that panels read: a new one is made by the formula below. */
const READ = [...new Set(instruments.flatMap(({reads}) => reads.filter(({frames}) => !frames).map(({quantity}) => quantity)))];
const FIELDS: Record<string, string[]> = {
  parameters: ['mean', 'deviation', 'abs_max'],
  hess_max_ev: ['iterations', 'products', 'residual', 'converged'],
  hess_min_ev: ['iterations', 'products', 'residual', 'converged'],
  grad_noise_scale: ['noise', 'signal'],
  rank_time: ['backward'],
  finite: ['loss_scale'],
};
const BY_RANK = new Set(['rank_loss', 'rank_grad_norm', 'rank_time']);
const RANK_GROUPS = ['rank 0', 'rank 1', 'rank 2', 'rank 3'];
const LAYER_FIELDS: Record<string, string[]> = {
  dead_units: ['relu_0', 'relu_1'],
  saturated_units: ['sigmoid_0'],
};

function valueOf(quantity: string, step: number, last: number, noise: number, group: number): number {
  const t = step / Math.max(1, last);
  const wobble = 1 + 0.3 * (noise - 0.5);
  switch (quantity) {
    case 'alpha': return -0.4 + 0.8 * (noise - 0.5) + 0.6 * t;
    case 'distance': return 3 * Math.sqrt(t) * wobble;
    case 'grad_cosine': return 0.2 * (1 - t) + 0.05 * noise;
    case 'early_stopping': return -1 + t + 0.2 * noise;
    case 'hess_min_ev': return -2 * (1 - t) * wobble;
    case 'update_ratio': return -3 + 0.4 * noise - t - 0.01 * group;
    case 'train_accuracy': case 'valid_accuracy': case 'test_accuracy': case 'batch_accuracy':
      return Math.min(1, 0.1 + 0.8 * (1 - Math.exp(-5 * t)) + 0.05 * noise);
    case 'learning_rate': return 0.05 * (1 + Math.cos(Math.PI * t));
    case 'time': return step * 0.03;
    case 'dead_units': case 'saturated_units': return 0.3 * t + 0.02 * noise;
    default: return (0.1 + 2.2 * Math.exp(-4 * t)) * wobble * (1 + 0.05 * group);
  }
}

export class FakeSource implements Source {
  readonly isLive = true;
  readonly remark = '';
  private readonly list: RunDetails[] = [];
  private readonly steps: number;
  private readonly interval: number;
  private listener: Listener | null = null;

  constructor(options: FakeOptions = {}) {
    this.steps = options.steps ?? 500;
    this.interval = options.interval ?? 5;
    for (let i = 0; i < (options.runs ?? 3); ++i) this.list.push(this.makeRun(i, options.parameters ?? 8));
  }

  private makeRun(index: number, parameters: number): RunDetails {
    const groups = Array.from({length: parameters}, (_, i) => `layer_${i >> 1}.${i % 2 ? 'bias' : 'weight'}`);
    const tracked = Math.floor((this.steps - 1) / this.interval) + 1;
    const series: Series[] = [];
    const add = (quantity: string, field: string, group: string, kind: Series['kind']) => {
      series.push({id: series.length + 1, quantity, field, group, kind, count: tracked, first_step: 0,
        last_step: (tracked - 1) * this.interval});
    };
    for (const quantity of READ.filter((each) => !(each in LAYER_FIELDS))) {
      const isByRank = BY_RANK.has(quantity);
      for (const group of isByRank ? RANK_GROUPS : WHOLE_ONLY.has(quantity) ? [''] : ['', ...groups]) {
        if (isByRank) for (const field of FIELDS[quantity] ?? []) add(quantity, field, group, 'number');
        add(quantity, '', group, 'number');
        if (group === '') for (const field of FIELDS[quantity] ?? []) add(quantity, field, '', 'number');
      }
    }
    for (const [quantity, fields] of Object.entries(LAYER_FIELDS)) {
      for (const field of ['', ...fields]) add(quantity, field, '', 'number');
    }
    add('ggn_spectrum', '', '', 'number');
    for (const field of ['eigenvalues', 'slope_snr', 'curvature_snr']) add('ggn_spectrum', field, '', 'list');
    for (const field of ['samples', 'norms', 'ids', 'labels', 'predictions']) add('sample_outliers', field, '', 'list');
    for (const field of ['ids', 'labels', 'predictions', 'losses']) add('misclassified', field, '', 'list');
    for (const group of ['', ...groups]) add('grad_hist_1d', '', group, 'histogram');
    for (const group of ['', ...groups]) add('grad_hist_2d', '', group, 'histogram');
    for (const group of ['', ...groups]) add('final_parameters', '', group, 'histogram');
    add('misclassified', 'confusion', '', 'histogram');
    const values: Record<string, number> = {};
    for (const s of series) if (s.kind === 'number' && s.group === '') {
      values[s.field ? `${s.quantity}/${s.field}` : s.quantity] = valueOf(s.quantity, this.steps, this.steps, 0.5, 0);
    }
    const summary: RunSummary = {
      id: `run_${index}`, status: index === 0 ? 'running' : index % 3 === 2 ? 'killed' : 'finished', error: '', change: index + 1,
      start_time: 1_700_000_000 + 600 * index, last_time: 1_700_000_400 + 600 * index,
      last_step: (tracked - 1) * this.interval,
      config: {problem: 'fmnist_2c2d', optimizer: index % 2 ? 'adam' : 'sgd', learning_rate: String(0.01 * (index + 1)), seed: '42'},
      values, tags: index === 1 ? ['baseline', 'paper'] : [], note: index === 1 ? 'The one to beat.' : '', archived: false,
    };
    return {
      summary, flightdeck_version: '0.1.0', libtorch_version: '1.13.1', host: 'example', command: 'flightdeck run fmnist_2c2d',
      device: 'cpu', grouping: 'by parameter', plan: 'first-order pass: grad_norm\ncolumns pass: hess_trace',
      coverage: 'exact-fast: all parameters', parameters: groups.map((name) => ({name, shape: new Float64Array([16, 8]), type: 'float32'})),
      groups, quantities: [...new Set(series.map((s) => s.quantity))].filter((q) => !q.includes('accuracy') && !q.includes('_loss'))
        .map((name) => ({name, summary: `Summary of ${name}`, due: `every ${this.interval}`, settings: '', cost: 'free'})),
      series, notes: [{step: 10, time: 1_700_000_010, kind: 'remark', quantity: 'alpha', text: 'a remark of the cockpit'}],
      clock: {steps: Float64Array.of(0, summary.last_step), seconds: Float64Array.of(1, 400)},
    };
  }

  private run(id: string): RunDetails {
    const found = this.list.find((run) => run.summary.id === id);
    if (!found) throw new Error(`there is no run ${id}`);
    return found;
  }

  private stepsIn(series: Series, range: StepRange): number[] {
    const steps = [];
    for (let s = series.first_step; s <= series.last_step; s += this.interval) {
      if (s >= (range.first ?? -Infinity) && s <= (range.last ?? Infinity)) steps.push(s);
    }
    return steps;
  }

  runs(): Promise<RunList> {
    return Promise.resolve({epoch: 'fake', change: this.list.length, runs: this.list.map((run) => run.summary)});
  }

  details(id: string): Promise<RunDetails> {
    return Promise.resolve(this.run(id));
  }

  points(id: string, ids: number[], range: StepRange, points: number): Promise<PointsList> {
    const run = this.run(id);
    const series: Points[] = ids.map((wanted) => {
      const info = run.series.find((s) => s.id === wanted);
      if (!info) throw new Error(`there is no series ${wanted}`);
      const random = randomNumbers(wanted * 7919 + run.summary.id.length);
      const group = run.groups.indexOf(info.group) + 1;
      const steps = this.stepsIn(info, range);
      const values = steps.map((s) => valueOf(info.quantity, s, this.steps, random(), group));
      if (steps.length <= points) {
        return {id: wanted, reduced: false, count: steps.length, steps: Float64Array.from(steps),
          values: Float64Array.from(values), low: new Float64Array(), high: new Float64Array()};
      }
      const width = Math.ceil(steps.length / points);
      const out = {steps: [] as number[], values: [] as number[], low: [] as number[], high: [] as number[]};
      for (let i = 0; i < steps.length; i += width) {
        const part = values.slice(i, i + width);
        out.steps.push(steps[Math.min(i + width, steps.length) - 1] as number);
        out.values.push(part[part.length - 1] as number);
        out.low.push(Math.min(...part));
        out.high.push(Math.max(...part));
      }
      return {id: wanted, reduced: true, count: steps.length, steps: Float64Array.from(out.steps),
        values: Float64Array.from(out.values), low: Float64Array.from(out.low), high: Float64Array.from(out.high)};
    });
    return Promise.resolve({change: run.summary.change, series});
  }

  frames(id: string, ids: number[], range: StepRange, count: number): Promise<FrameList> {
    const run = this.run(id);
    const frames: Frame[] = [];
    for (const wanted of ids) {
      const info = run.series.find((s) => s.id === wanted);
      if (!info) throw new Error(`there is no series ${wanted}`);
      const steps = this.stepsIn(info, range);
      const chosen = steps.length <= count ? steps : Array.from({length: count}, (_, i) =>
        steps[Math.round(((i + 1) * steps.length) / count) - 1] as number);
      for (const step of chosen) frames.push(this.frame(info, step));
    }
    return Promise.resolve({change: run.summary.change, frames});
  }

  private frame(info: Series, step: number): Frame {
    const t = step / this.steps;
    const empty = {id: info.id, step, list: new Float64Array(), axes: [], counts: new Float64Array(), below: 0, above: 0, not_a_number: 0};
    if (info.kind === 'list') {
      const list = info.field === 'samples' ? [3, 17, 5, 90, 41]
        : Array.from({length: info.quantity === 'ggn_spectrum' ? 10 : 5}, (_, i) => (5 * (1 - t) + 1) / (i + 1));
      return {...empty, list: Float64Array.from(list)};
    }
    const width = 0.5 * (1 - 0.7 * t);
    const bell = (x: number) => Math.exp((-x * x) / (2 * width * width));
    if (info.quantity === 'grad_hist_1d' || info.quantity === 'final_parameters') {
      const counts = Float64Array.from({length: 100}, (_, i) => Math.round(10000 * bell(-2 + 0.04 * (i + 0.5))));
      return {...empty, axes: [{low: -2, high: 2, count: 100}], counts, below: 12, above: 7};
    }
    if (info.field === 'confusion') {
      const classes = {low: -0.5, high: 9.5, count: 10};
      return {...empty, axes: [classes, classes], counts: Float64Array.from({length: 100}, (_, i) => (i % 11 === 0 ? 900 : i % 7))};
    }
    const counts = new Float64Array(40 * 50);
    for (let g = 0; g < 40; ++g) {
      for (let p = 0; p < 50; ++p) {
        counts[g * 50 + p] = Math.round(1000 * bell(-1 + 0.05 * (g + 0.5)) * bell(-2 + 0.08 * (p + 0.5)));
      }
    }
    return {...empty, axes: [{low: -1, high: 1, count: 40}, {low: -2, high: 2, count: 50}], counts};
  }

  lamps(): Promise<LampList> {
    return Promise.resolve({lamps: [{severity: 'advice', step: 10, quantity: 'alpha', title: 'Remark', text: 'a remark of the cockpit'}]});
  }

  /** One cause that speaks for itself, and as many others as a test wants. */
  diagnosis(id: string): Promise<Diagnosis> {
    const series = (quantity: string) => Float64Array.of(...this.run(id).series.filter((each) => each.quantity === quantity && each.field === '' && each.group === '').map((each) => each.id));
    const evidence = (lamp: string, quantity: string, isLit: boolean, limit: number) => ({lamp, title: `What ${lamp} says`, text: isLit ? `${quantity} is 1.6 (median of 20 values up to step 40)` : '',
      is_lit: isLit, severity: 'warning' as const, step: isLit ? 40 : -1, quantities: [quantity], layers: isLit ? ['layer_0.weight'] : [], samples: new Float64Array(),
      samples_are_positions: false, series: series(quantity), limits: Float64Array.of(limit)});
    return this.lamps().then(({lamps}) => ({
      verdict: 'fault', sentence: 'The learning rate is too high (78 %): divide the learning rate by about 2.6', confidence: 0.78, health: 0.02, track: ['spikes'], lamps,
      causes: [{name: 'learning_rate_too_high', sentence: 'The learning rate is too high', advice: 'Divide the learning rate by about 2.6', probability: 0.78, step: 40,
        speaks_for: [{lamp: 'long_steps', weight: 2.4}], speaks_against: [{lamp: 'large_updates', weight: -0.3}]}],
      evidence: [evidence('large_updates', 'update_ratio', false, -1), evidence('long_steps', 'alpha', true, 1)],
    }));
  }

  csvAddress(): string | null {
    return null;
  }

  canEdit(): Promise<boolean> {
    return Promise.resolve(true);
  }

  label(id: string, change: LabelChange): Promise<RunSummary> {
    const {summary} = this.run(id);
    const tags = summary.tags.filter((tag) => tag !== change.remove);
    if (change.add && !tags.includes(change.add)) tags.push(change.add);
    Object.assign(summary, {tags, note: change.note ?? summary.note, archived: change.archived ?? summary.archived});
    summary.change += 1;
    this.announce(id);
    return Promise.resolve(summary);
  }

  watch(listener: Listener): () => void {
    this.listener = listener;
    listener.connected(true);
    return () => { this.listener = null; };
  }

  /** Tells the listener that a run changed. */
  announce(id: string): void {
    this.listener?.run(this.run(id).summary);
  }
}
