// SPDX-License-Identifier: MIT
// Settings that are told in one text, such as "learning_rate 0.05, weight_decay 0", one by one.

type Config = Readonly<Record<string, string>>;

const TOGETHER = 'hyperparameters';
const known = new WeakMap<Config, Config>();

function split(config: Config): Config {
  const parts = (config[TOGETHER] ?? '').split(',').map((part) => /^\s*([A-Za-z_][\w.]*)(?:\s*[=:]\s*|\s+)(\S+)\s*$/.exec(part));
  if (!Object.hasOwn(config, TOGETHER) || parts.includes(null)) return config;
  const result = Object.create(null) as Record<string, string>;
  for (const part of parts) if (part) result[part[1] as string] = part[2] as string;
  const {[TOGETHER]: _, ...rest} = config;
  return Object.assign(result, rest);
}

/** The configuration with each of them under its own name; as it is where the text is not understood. */
export function singleSettings(config: Config): Config {
  const result = known.get(config) ?? split(config);
  known.set(config, result);
  return result;
}
