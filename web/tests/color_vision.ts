// SPDX-License-Identifier: MIT
// How colours look to people who lack one kind of cone: the matrices of Machado, Oliveira and Fernandes
// (2009) at full severity, and distances in OKLab.

type Bytes = readonly [number, number, number];

const MATRICES = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protan: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deutan: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritan: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
} as const;

export type Vision = keyof typeof MATRICES;
export const VISIONS = Object.keys(MATRICES) as Vision[];

const linear = (byte: number) => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);

export function luminance([r, g, b]: Bytes): number {
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

function seen(vision: Vision, color: Bytes): [number, number, number] {
  const [r, g, b] = color.map(linear) as [number, number, number];
  const m = MATRICES[vision];
  const row = (i: 0 | 3 | 6) => Math.min(1, Math.max(0, (m[i] as number) * r + (m[i + 1] as number) * g + (m[i + 2] as number) * b));
  return [row(0), row(3), row(6)];
}

function oklab([r, g, b]: readonly [number, number, number]): [number, number, number] {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}

/** Of a colour as it is seen, from 0 (black) to 100. */
export function lightnessFor(vision: Vision, color: Bytes): number {
  return 100 * oklab(seen(vision, color))[0];
}

/** A hundred times the distance in OKLab between two colours as they are seen. */
export function distanceFor(vision: Vision, one: Bytes, other: Bytes): number {
  const [a, b] = [oklab(seen(vision, one)), oklab(seen(vision, other))];
  return 100 * Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
