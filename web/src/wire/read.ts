// SPDX-License-Identifier: MIT
// Turns what JSON.parse gives into typed values, once, where it arrives. An error names the field.

export class WireError extends Error {}

type Reader<T> = (json: unknown, path: string) => T;

function refuse(path: string, wanted: string, json: unknown): never {
  const found = json === null ? 'null' : Array.isArray(json) ? 'an array' : typeof json;
  throw new WireError(`${path} is ${found}, not ${wanted}; page and server differ, reload the page`);
}

export function fieldsOf(json: unknown, path: string): Record<string, unknown> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) refuse(path, 'an object', json);
  return json as Record<string, unknown>;
}

export const text: Reader<string> = (json, path) =>
  typeof json === 'string' ? json : refuse(path, 'a string', json);

export const integer: Reader<number> = (json, path) =>
  Number.isInteger(json) ? (json as number) : refuse(path, 'an integer', json);

/** JSON lacks NaN and infinities; the wire has their names instead. */
export const number: Reader<number> = (json, path) => {
  if (typeof json === 'number') return json;
  if (json === 'NaN') return NaN;
  if (json === 'Infinity') return Infinity;
  if (json === '-Infinity') return -Infinity;
  return refuse(path, 'a number', json);
};

export const truth: Reader<boolean> = (json, path) =>
  typeof json === 'boolean' ? json : refuse(path, 'true or false', json);

export const column: Reader<Float64Array> = (json, path) => {
  if (!Array.isArray(json)) refuse(path, 'an array of numbers', json);
  const values = new Float64Array(json.length);
  json.forEach((entry: unknown, i) => {
    values[i] = typeof entry === 'number' ? entry : number(entry, `${path}[${i}]`);
  });
  return values;
};

export const array =
  <T>(element: Reader<T>): Reader<T[]> =>
  (json, path) => {
    if (!Array.isArray(json)) refuse(path, 'an array', json);
    return json.map((entry: unknown, i) => element(entry, `${path}[${i}]`));
  };

export const map =
  <T>(entry: Reader<T>): Reader<Record<string, T>> =>
  (json, path) => {
    // Without a prototype: names come from the user, __proto__ may be one.
    const values = Object.create(null) as Record<string, T>;
    for (const [name, value] of Object.entries(fieldsOf(json, path))) {
      values[name] = entry(value, `${path}.${name}`);
    }
    return values;
  };

export const choice =
  <T extends string>(...words: T[]): Reader<T> =>
  (json, path) =>
    words.includes(json as T) ? (json as T) : refuse(path, words.join(', '), json);
