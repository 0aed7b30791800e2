// SPDX-License-Identifier: MIT
// Splits lists of series so that each request's address stays short enough for every server.

/** Characters that the ids of one request may take. */
export const MAX_IDS_LENGTH = 5500;

/** The ids in order, in as few lists as fit. */
export function idBatches(ids: readonly number[], limit = MAX_IDS_LENGTH): number[][] {
  const batches: number[][] = [];
  let batch: number[] = [];
  let length = 0;
  for (const id of ids) {
    const added = String(id).length + 1;
    if (batch.length > 0 && length + added > limit) {
      batches.push(batch);
      [batch, length] = [[], 0];
    }
    batch.push(id);
    length += added;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
