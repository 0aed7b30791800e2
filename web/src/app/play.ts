// SPDX-License-Identifier: MIT
// Plays a run: the slider walks over tracked steps whose lists and histograms are read ahead.
import type {RunStore} from '../store/run_store';

/** Frames of the whole run are read in this many parts of this many steps. */
const PARTS = 20;
const STEPS_EACH = 10;
const FRAME_MS = 120;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Begins at the slider, or at the first step if it is at the end; called again, it stops. */
export async function play(run: RunStore): Promise<void> {
  if (run.isPlaying.value) {
    run.isPlaying.set(false);
    return;
  }
  run.isPlaying.set(true);
  const last = run.lastStep;
  const width = Math.max(1, Math.ceil((last + 1) / PARTS));
  const read = (first: number) => run.stepsToPlay({first, last: Math.min(last, first + width - 1)}, STEPS_EACH);
  let first = run.step.value === null ? 0 : run.step.value + 1;
  try {
    let ahead = read(first);
    while (run.isPlaying.value && first <= last) {
      const steps = await ahead;
      first += width;
      if (first <= last) ahead = read(first);
      ahead.catch(() => undefined);
      for (const step of steps) {
        if (!run.isPlaying.value) return;
        run.step.set(step);
        await pause(FRAME_MS);
      }
    }
    if (run.isPlaying.value) run.step.set(null);
  } catch (error) {
    run.error.set(error instanceof Error ? error : new Error(String(error)));
  } finally {
    run.isPlaying.set(false);
  }
}
