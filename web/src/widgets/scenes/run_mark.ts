// SPDX-License-Identifier: MIT
// How a run, or a group of runs, is told from others in a picture.

export interface RunMark {
  name: string;
  /** Index into the palette's colours of runs. */
  color: number;
  /** Empty for a solid line. */
  dash: readonly number[];
}
