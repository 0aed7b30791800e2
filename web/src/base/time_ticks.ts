// SPDX-License-Identifier: MIT
// Marks of an axis of dates and times, at round times of the reader's clock.

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
const STEPS = [1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR,
  6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 90 * DAY, 365 * DAY];

/** Seconds that the reader's clock is ahead of UTC at this time. */
const ahead = (seconds: number) => -60 * new Date(1000 * seconds).getTimezoneOffset();

/** Seconds since 1970, about `wanted` of them in [low, high]. */
export function timeTicks(low: number, high: number, wanted: number): number[] {
  if (!(high > low) || !Number.isFinite(high - low)) return Number.isFinite(low) ? [low] : [];
  const raw = (high - low) / Math.max(1, wanted);
  const step = STEPS.find((each) => each >= raw) ?? 365 * DAY * Math.ceil(raw / (365 * DAY));
  const shift = ahead(low);
  const ticks: number[] = [];
  for (let tick = Math.ceil((low + shift) / step) * step - shift; tick <= high && ticks.length < 100; tick += step) ticks.push(tick);
  return ticks;
}

/** The time, with seconds if some tick needs them; the date where it is another than that of the tick before. */
export function timeLabels(ticks: readonly number[]): string[] {
  const two = (n: number) => String(n).padStart(2, '0');
  const dates = ticks.map((tick) => new Date(1000 * tick));
  const hasSeconds = dates.some((date) => date.getSeconds() !== 0);
  const isByDay = dates.every((date) => date.getHours() === 0 && date.getMinutes() === 0) && ticks.length > 1;
  return dates.map((date, i) => {
    const day = `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
    if (isByDay) return day;
    const time = `${two(date.getHours())}:${two(date.getMinutes())}${hasSeconds ? `:${two(date.getSeconds())}` : ''}`;
    const before = dates[i - 1];
    return before !== undefined && before.getDate() !== date.getDate() ? `${day} ${time}` : time;
  });
}
