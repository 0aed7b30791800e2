// SPDX-License-Identifier: MIT
// Which settings differ between runs, and which are the same in all of them.

export interface Difference {
  key: string;
  /** One for each run; undefined where it has no such key. */
  values: (string | undefined)[];
}

export interface ConfigDifference {
  differing: Difference[];
  same: {key: string; value: string}[];
}

/** What `flightdeck run` adds at its end: how it went, not how it was set. */
const OUTCOMES = ['steps_taken', 'diverged_at'];

export function configDifference(configs: readonly Readonly<Record<string, string>>[]): ConfigDifference {
  const keys = new Set(configs.flatMap((config) => Object.keys(config)).filter((key) => !OUTCOMES.includes(key)));
  const result: ConfigDifference = {differing: [], same: []};
  for (const key of [...keys].sort()) {
    const values = configs.map((config) => (Object.hasOwn(config, key) ? config[key] : undefined));
    const first = values[0];
    if (first !== undefined && values.every((value) => value === first)) result.same.push({key, value: first});
    else result.differing.push({key, values});
  }
  return result;
}
