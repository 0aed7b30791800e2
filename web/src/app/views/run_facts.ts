// SPDX-License-Identifier: MIT
// Numbers that sum a run up: the best values with their steps, and which samples stand out.
import type {Source, StepRange} from '../../wire/source';
import type {Frame, RunDetails, Series} from '../../wire/types';

export interface Best {
  quantity: string;
  isLargest: boolean;
  value: number;
  step: number;
  /** False if points were taken together and the value lies at or before the step. */
  isExact: boolean;
  final: number | undefined;
}

const JUDGED = ['valid_accuracy', 'valid_loss', 'test_accuracy', 'test_loss', 'train_accuracy', 'train_loss', 'loss'];

/** Series worth a "best": losses and accuracies of the whole model. */
export function judgedSeries(run: RunDetails): Series[] {
  return JUDGED.flatMap((name) => run.series.filter((series) =>
    series.quantity === name && series.field === '' && series.group === '' && series.kind === 'number'));
}

type Extreme = Pick<Best, 'value' | 'step' | 'isExact'>;

/** The extreme of a series and the first step that has it; narrows down where points were taken together. */
export async function bestOf(source: Source, run: string, series: Series, isLargest: boolean): Promise<Extreme | null> {
  let range: StepRange = {};
  let found: Extreme | null = null;
  for (;;) {
    const points = (await source.points(run, [series.id], range, 500)).series[0];
    if (!points) return found;
    const candidates = !points.reduced ? points.values : isLargest ? points.high : points.low;
    let best = -1;
    for (let i = 0; i < candidates.length; ++i) {
      const value = candidates[i] as number;
      if (!Number.isFinite(value)) continue;
      const isBetter = best < 0 || (isLargest ? value > (candidates[best] as number) : value < (candidates[best] as number));
      if (isBetter) best = i;
    }
    if (best < 0) return found;
    const step = points.steps[best] as number;
    found = {value: candidates[best] as number, step, isExact: !points.reduced};
    const before = points.steps[best - 1];
    const first = before === undefined ? range.first ?? series.first_step : before + 1;
    // A report has no more than it has.
    if (!points.reduced || !source.isLive || (first === range.first && step === range.last)) return found;
    range = {first, last: step};
  }
}

export async function bestValues(source: Source, run: RunDetails): Promise<Best[]> {
  const id = run.summary.id;
  const judged = await Promise.all(judgedSeries(run).map(async (series): Promise<Best | null> => {
    const isLargest = series.quantity.endsWith('accuracy');
    const best = await bestOf(source, id, series, isLargest);
    const values = run.summary.values;
    const final = Object.hasOwn(values, series.quantity) ? values[series.quantity] : undefined;
    return best && {quantity: series.quantity, isLargest, final, ...best};
  }));
  return judged.filter((best): best is Best => best !== null);
}

export interface Frequent {
  position: number;
  times: number;
}

/** How often each position of the batch was among the listed ones, the most frequent first. */
export function frequentPositions(frames: readonly Frame[]): Frequent[] {
  const times = new Map<number, number>();
  for (const frame of frames) for (const position of frame.list) times.set(position, (times.get(position) ?? 0) + 1);
  return [...times].map(([position, count]) => ({position, times: count}))
    .sort((a, b) => b.times - a.times || a.position - b.position);
}

/** Entries of a tensor. */
export function entriesOf(shape: ArrayLike<number>): number {
  let product = 1;
  for (let i = 0; i < shape.length; ++i) product *= shape[i] as number;
  return product;
}
