// SPDX-License-Identifier: MIT
// Which instruments have something to show of a run, and which of them show what a lamp reads.
import instruments from 'instruments';
import type {RunDetails} from '../wire/types';
import {automaticInstruments} from './automatic';
import type {Instrument} from './instrument';
import {seriesRead} from './readings';

/** Those that read something this run has. */
export function usableInstruments(details: RunDetails): Instrument[] {
  return [...instruments, ...automaticInstruments(details, instruments)].filter((instrument) => {
    const {numbers, frames} = seriesRead(instrument, details);
    return numbers.length + frames.length > 0;
  });
}

/** Panels that one quantity is in at most: more are no help. */
const MOST = 2;

/** Where the quantities are seen: those named as one first, then those that read it. */
export function panelsOf(quantities: readonly string[], usable: readonly Instrument[]): Instrument[] {
  const found = new Set<Instrument>();
  for (const quantity of quantities) {
    const readers = usable.filter(({reads}) => reads.some((each) => each.quantity === quantity));
    const first = readers.filter(({id, reads}) => id === quantity || reads[0]?.quantity === quantity);
    for (const instrument of (first.length > 0 ? first : readers).slice(0, MOST)) found.add(instrument);
  }
  return [...found];
}
