// SPDX-License-Identifier: MIT
// Numbers as labels: short, with a true minus sign.

function withMinus(text: string): string {
  return text.replace(/-/g, '\u2212');
}

/** A few significant digits: 0.0123, 1.5e−7, 1230, ∞. */
export function shortNumber(value: number, digits = 3): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '\u2212∞';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e-3 && size < 1e5) {
    return withMinus(String(size >= 10 ** digits ? Math.round(value) : Number(value.toPrecision(digits))));
  }
  const [mantissa = '', exponent = ''] = value.toExponential(digits - 1).split('e');
  return withMinus(`${Number(mantissa)}e${Number(exponent)}`);
}

/** A number of things: 999, 1.2k, 35k, 4.1M. */
export function shortCount(count: number): string {
  if (!Number.isFinite(count)) return shortNumber(count);
  let rest = count;
  for (const unit of ['', 'k', 'M', 'G']) {
    if (Math.abs(rest) < 999.5) {
      return withMinus(`${unit === '' || Math.abs(rest) >= 9.95 ? Math.round(rest) : Number(rest.toFixed(1))}${unit}`);
    }
    rest /= 1000;
  }
  return shortNumber(count, 2);
}
