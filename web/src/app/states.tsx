// SPDX-License-Identifier: MIT
// What a view shows when it has nothing to show: it is empty, loading or failed, and says what to do.
import type {ComponentChildren} from 'preact';

export function Empty({title, children}: {title: string; children: ComponentChildren}) {
  return <div class="state"><h2>{title}</h2>{children}</div>;
}

export function Loading({what}: {what: string}) {
  return <div class="state" role="status"><p class="pulse">Loading {what}…</p></div>;
}

/** `retry` if it can be tried again by hand. */
export function Failure({error, what, retry}: {error: Error; what: string; retry?: () => void}) {
  const remedy = (error as {remedy?: unknown}).remedy;
  return (
    <div class="state" role="alert">
      <h2>{what}</h2>
      <p>{error.message}</p>
      {typeof remedy === 'string' && remedy && <p>What to do: {remedy}.</p>}
      {retry && <button type="button" onClick={retry}>Try again</button>}
    </div>
  );
}
