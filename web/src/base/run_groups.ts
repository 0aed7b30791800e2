// SPDX-License-Identifier: MIT
// Runs that belong together: by a setting, by a tag, or because nothing but the seed differs.
import {configDifference} from './config_difference';
import {naturalOrder} from './natural_order';

type Config = Readonly<Record<string, string>>;

export interface Groupable {
  id: string;
  config: Config;
  tags?: readonly string[];
}

export interface RunGroup<T> {
  label: string;
  runs: T[];
}

/** '' for none, 'seed', 'tag', 'all', or config:KEY. */
export type GroupBy = string;

export const NOT_SET = 'not set';
export const NO_TAG = 'no tag';

/** A setting that only repeats the seed, such as "generated with seed 7", does not tell runs apart. */
function withoutSeed(config: Config): Config {
  const kept = Object.entries(config).filter(([key]) => !/(^|_)seed$/.test(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, value.replace(/\bseed \d+/g, 'seed')]));
}

function labelsBySettings(configs: readonly Config[]): string[] {
  const {differing} = configDifference(configs);
  return configs.map((_, i) => differing.map(({key, values}) => `${key} ${values[i] ?? NOT_SET}`).join(', ') || 'all');
}

function labelsOf<T extends Groupable>(runs: readonly T[], by: GroupBy): string[][] {
  if (by === 'all') return runs.map(() => ['all']);
  if (by === 'tag') return runs.map(({tags}) => (tags && tags.length > 0 ? [...new Set(tags)] : [NO_TAG]));
  if (by === 'seed') return labelsBySettings(runs.map(({config}) => withoutSeed(config))).map((label) => [label]);
  const key = by.replace(/^config:/, '');
  return runs.map(({config}) => [`${key} ${Object.hasOwn(config, key) ? config[key] as string : NOT_SET}`]);
}

/** Every run is in a group, one with several tags in several. In the order of their labels. */
export function groupRuns<T extends Groupable>(runs: readonly T[], by: GroupBy): RunGroup<T>[] {
  const groups = new Map<string, T[]>();
  labelsOf(runs, by).forEach((labels, i) => {
    for (const label of labels) {
      const known = groups.get(label) ?? [];
      if (known.length === 0) groups.set(label, known);
      known.push(runs[i] as T);
    }
  });
  return [...groups].sort(([a], [b]) => naturalOrder(a, b)).map(([label, members]) => ({label, runs: members}));
}

/** By what these runs can be grouped: the settings that differ first. */
export function groupings(runs: readonly Groupable[]): {by: GroupBy; label: string}[] {
  const {differing, same} = configDifference(runs.map(({config}) => config));
  const keys = [...differing, ...same].map(({key}) => key);
  return [
    {by: '', label: 'no grouping'},
    {by: 'seed', label: 'all but the seed'},
    ...(runs.some(({tags}) => tags && tags.length > 0) ? [{by: 'tag', label: 'tag'}] : []),
    {by: 'all', label: 'all in one'},
    ...keys.map((key) => ({by: `config:${key}`, label: key})),
  ];
}
