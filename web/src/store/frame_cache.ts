// SPDX-License-Identifier: MIT
// Lists and histograms in memory: a few steps of each series around where the slider stands.
import type {Frame} from '../wire/types';

/** Numbers that all frames together may hold: 32 MB. */
const MAX_NUMBERS = 4_000_000;
const MIN_FRAMES_EACH = 2;

export class FrameCache {
  private readonly byId = new Map<number, Frame[]>();

  add(frames: readonly Frame[], around: number): void {
    for (const frame of frames) {
      const list = this.byId.get(frame.id) ?? [];
      const place = list.findIndex((other) => other.step >= frame.step);
      if (place < 0) list.push(frame);
      else list.splice(place, list[place]?.step === frame.step ? 1 : 0, frame);
      this.byId.set(frame.id, list);
    }
    this.shrink(around);
  }

  /** The last frame at or before the step. */
  at(id: number, step: number): Frame | undefined {
    const list = this.byId.get(id) ?? [];
    for (let i = list.length - 1; i >= 0; --i) if ((list[i] as Frame).step <= step) return list[i];
    return undefined;
  }

  clear(): void {
    this.byId.clear();
  }

  private shrink(around: number): void {
    let numbers = 0;
    for (const list of this.byId.values()) for (const frame of list) numbers += frame.counts.length + frame.list.length;
    while (numbers > MAX_NUMBERS) {
      let dropped = 0;
      for (const list of this.byId.values()) {
        if (list.length <= MIN_FRAMES_EACH) continue;
        const first = list[0] as Frame;
        const last = list[list.length - 1] as Frame;
        const frame = around - first.step > last.step - around ? list.shift() : list.pop();
        dropped += frame ? frame.counts.length + frame.list.length + 1 : 0;
      }
      if (dropped === 0) return;
      numbers -= dropped;
    }
  }
}
