// SPDX-License-Identifier: MIT
// Colours as bytes, for pictures that are written pixel by pixel.

/** Red, green, blue of #rrggbb or rgb(r,g,b); null for other ways to name a colour. */
export function colorBytes(color: string): readonly [number, number, number] | null {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color);
  if (hex) return [parseInt(hex[1] as string, 16), parseInt(hex[2] as string, 16), parseInt(hex[3] as string, 16)];
  const rgb = /^rgb\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(color);
  return rgb ? [Number(rgb[1]), Number(rgb[2]), Number(rgb[3])] : null;
}

/** One pixel for each value, red green blue opacity; NaN is transparent. Null if a colour is not understood. */
export function pixelsOf(values: ArrayLike<number>, count: number, color: (value: number) => string): Uint8ClampedArray<ArrayBuffer> | null {
  const pixels = new Uint8ClampedArray(4 * count);
  const known = new Map<string, ReturnType<typeof colorBytes>>();
  for (let i = 0; i < values.length; ++i) {
    const value = values[i] as number;
    if (Number.isNaN(value)) continue;
    const name = color(value);
    let bytes = known.get(name);
    if (bytes === undefined) {
      bytes = colorBytes(name);
      known.set(name, bytes);
    }
    if (bytes === null) return null;
    pixels.set(bytes, 4 * i);
    pixels[4 * i + 3] = 255;
  }
  return pixels;
}
