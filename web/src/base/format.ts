// SPDX-License-Identifier: MIT
// Numbers, steps and times as people read them.

function trimmed(digits: string): string {
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
}

/** Five significant digits at most; below a million, all digits before the point. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return minus(String(value));
  if (size >= 1e6 || size < 1e-4) {
    const [digits = '', exponent = ''] = value.toExponential(4).split('e');
    return minus(`${trimmed(digits)}e${exponent.replace('+', '')}`);
  }
  return minus(size >= 1e5 ? value.toFixed(0) : trimmed(value.toPrecision(5)));
}

/** Every digit that tells the value from its neighbours. */
export function exactNumber(value: number): string {
  return String(value);
}

function minus(text: string): string {
  return text.replace(/-/g, '−');
}

/** 1234567 as 1 234 567, with spaces that do not break. */
export function formatStep(step: number): string {
  return minus(String(step)).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return '–';
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Seconds since 1970 as local date and time. */
export function formatTime(seconds: number): string {
  if (seconds <= 0) return '–';
  const date = new Date(1000 * seconds);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** A name that every file system takes. */
export function fileName(...parts: string[]): string {
  return parts.map((part) => part.replace(/[^A-Za-z0-9.-]+/g, '_').replace(/^_+|_+$/g, '')).filter(Boolean).join('_');
}
