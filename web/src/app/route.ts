// SPDX-License-Identifier: MIT
// Which page an address means: #/ all runs, #/run/<id>/<view> one of them.

export const RUN_VIEWS = ['cockpit', 'layers', 'run'] as const;
export type RunView = (typeof RUN_VIEWS)[number];

export type Route = {page: 'compare'} | {page: 'run'; id: string; view: RunView};

export function parseRoute(hash: string): Route {
  const [, page, id, view] = hash.replace(/^#/, '').split('/');
  if (page !== 'run' || !id) return {page: 'compare'};
  try {
    return {page: 'run', id: decodeURIComponent(id), view: RUN_VIEWS.find((known) => known === view) ?? 'cockpit'};
  } catch {
    // A mistyped % is no id.
    return {page: 'compare'};
  }
}

export function routeAddress(route: Route): string {
  return route.page === 'compare' ? '#/' : `#/run/${encodeURIComponent(route.id)}/${route.view}`;
}
