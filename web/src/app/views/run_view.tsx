// SPDX-License-Identifier: MIT
// The run view of a run.
import type {RunViewProps} from '../view_props';

export function RunView({run}: RunViewProps) {
  return <p class="empty">Nothing is shown here yet of {run.id}.</p>;
}
