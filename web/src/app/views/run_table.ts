// SPDX-License-Identifier: MIT
// The table of runs: which columns there are, what is in them, which rows pass a filter.
import {configDifference} from '../../base/config_difference';
import {formatDuration, formatNumber, formatStep, formatTime} from '../../base/format';
import {singleSettings} from '../../base/hyperparameters';
import {naturalOrder} from '../../base/natural_order';
import {parseFilter, passes, sortRows, type Cell, type Direction, type Term} from '../../base/table';
import type {RunSummary} from '../../wire/types';

export interface Column {
  /** status, name, ..., config:KEY or value:NAME */
  id: string;
  label: string;
  isNumber: boolean;
  cell(run: RunSummary): Cell;
  text(run: RunSummary): string;
}

const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

const FIXED: Column[] = [
  {id: 'status', label: 'Status', isNumber: false, cell: (run) => run.status, text: (run) => run.status},
  {id: 'name', label: 'Run', isNumber: false, cell: (run) => run.id, text: (run) => run.id},
  {id: 'start', label: 'Started', isNumber: true, cell: (run) => run.start_time || undefined, text: (run) => formatTime(run.start_time)},
  {id: 'duration', label: 'Duration', isNumber: true,
    cell: (run) => (run.last_time > 0 ? run.last_time - run.start_time : undefined),
    text: (run) => (run.last_time > 0 ? formatDuration(run.last_time - run.start_time) : '')},
  {id: 'step', label: 'Last step', isNumber: true, cell: (run) => (run.last_step >= 0 ? run.last_step : undefined),
    text: (run) => (run.last_step >= 0 ? formatStep(run.last_step) : '')},
  {id: 'tags', label: 'Tags', isNumber: false, cell: (run) => run.tags.join(' '), text: (run) => run.tags.join(', ')},
];

/** Values people look for first. */
export const FIRST_VALUES = ['loss', 'train_loss', 'valid_loss', 'test_loss', 'train_accuracy', 'valid_accuracy', 'test_accuracy'];

function configColumn(key: string): Column {
  return {id: `config:${key}`, label: key, isNumber: false, cell: (run) => own(singleSettings(run.config), key),
    text: (run) => own(singleSettings(run.config), key) ?? ''};
}

function valueColumn(name: string): Column {
  return {
    id: `value:${name}`, label: name, isNumber: true, cell: (run) => own(run.values, name),
    text: (run) => {
      const value = own(run.values, name);
      return value === undefined ? '' : formatNumber(value);
    },
  };
}

/** By how usual they are, then by name. */
function byRank(first: readonly string[]): (a: string, b: string) => number {
  const rank = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length);
  return (a, b) => rank(a) - rank(b) || naturalOrder(a, b);
}

export function allColumns(runs: readonly RunSummary[]): Column[] {
  const keys = new Set(runs.flatMap((run) => Object.keys(singleSettings(run.config))));
  const values = new Set(runs.flatMap((run) => Object.keys(run.values)));
  return [...FIXED, ...[...keys].sort(byRank(['problem', 'optimizer'])).map(configColumn),
    ...[...values].sort(byRank(FIRST_VALUES)).map(valueColumn)];
}

/** Settings that follow from others or tell how the run was watched: of use if asked for, not before. */
const ASIDE = new Set(['augmented', 'raw', 'data', 'data_set', 'limit', 'synthetic', 'l2', 'steps', 'steps_per_epoch', 'steps_taken', 'epochs', 'diverged_at',
  'tracked', 'threads', 'device', 'batch_norm', 'hyperparameters']);
const FIRST_SETTINGS = ['problem', 'optimizer', 'learning_rate', 'batch_size', 'schedule', 'momentum', 'weight_decay'];

/** Settings that tell runs apart, those that people look for first. */
export function tellingSettings(differing: readonly string[]): string[] {
  return differing.filter((key) => !ASIDE.has(key)).sort(byRank(FIRST_SETTINGS));
}

/** What is shown until the user chooses: settings that differ between runs, and the usual values. */
export function usualColumns(runs: readonly RunSummary[]): string[] {
  const settings = configDifference(runs.filter((run) => run.status !== 'unreadable').map((run) => singleSettings(run.config)))
    .differing.map((each) => each.key);
  const values = FIRST_VALUES.filter((name) => runs.some((run) => own(run.values, name) !== undefined));
  const preferred = ['loss', 'valid_loss', 'valid_accuracy', 'test_accuracy'].filter((name) => values.includes(name));
  const tags = runs.some((run) => run.tags.length > 0) ? ['tags'] : [];
  return ['status', 'name', ...tags, 'start', 'step', ...tellingSettings(settings).slice(0, 4).map((key) => `config:${key}`), ...preferred.map((name) => `value:${name}`)];
}

/** All that words look into, in lower case; the same for each letter that is typed. */
const searched = new WeakMap<RunSummary, string>();

function searchedText(run: RunSummary): string {
  const text = searched.get(run) ?? [run.id, run.status, run.error, ...run.tags, run.note, ...Object.values(run.config)].join('\n').toLowerCase();
  searched.set(run, text);
  return text;
}

export interface Sorting {
  column: string;
  direction: Direction;
}

/** What the filter says of tags: `tag=baseline` and `tag!=baseline`, each of one of a run's tags. */
function hasWantedTags(run: RunSummary, terms: readonly Term[]): boolean {
  return terms.every((term) => term.kind !== 'condition' || run.tags.includes(term.value) === (term.operator === '='));
}

const isOfTags = (term: Term) => term.kind === 'condition' && term.key === 'tag' && (term.operator === '=' || term.operator === '!=');

/** Rows that pass the filter, sorted. Conditions name settings, values, tags, or status, name, step, duration. */
export function chosenRuns(runs: readonly RunSummary[], filter: string, sorting: Sorting): RunSummary[] {
  const all = parseFilter(filter);
  const ofTags = all.filter(isOfTags);
  const terms = all.filter((term) => !isOfTags(term));
  const lowered = (record: Readonly<Record<string, Cell>>, key: string): Cell => {
    const name = Object.keys(record).find((each) => each.toLowerCase() === key);
    return name === undefined ? undefined : record[name];
  };
  const passing = runs.filter((run) => hasWantedTags(run, ofTags) && passes(terms,
    () => searchedText(run),
    (key) => FIXED.find((column) => column.id === key)?.cell(run) ?? lowered(singleSettings(run.config), key) ?? lowered(run.config, key) ?? lowered(run.values, key)));
  const column = sorting.column === '' ? undefined : allColumns(runs).find((each) => each.id === sorting.column);
  return column ? sortRows(passing, (run) => column.cell(run), sorting.direction) : passing;
}
