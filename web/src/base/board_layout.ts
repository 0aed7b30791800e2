// SPDX-License-Identifier: MIT
// How panels are arranged by hand: which come first, which are hidden, how large they are.

export interface PanelSize {
  /** Columns. */
  span: number;
  /** Of the plot in pixels; 0 for the usual one. */
  height: number;
}

export interface Layout {
  /** Panels that were moved and all before them; others follow in their own order. */
  order: readonly string[];
  pinned: readonly string[];
  hidden: readonly string[];
  sizes: Readonly<Record<string, PanelSize>>;
}

export const USUAL_LAYOUT: Layout = {order: [], pinned: [], hidden: [], sizes: {}};
export const MOST_SPAN = 3;
export const LEAST_HEIGHT = 120;
export const MOST_HEIGHT = 800;
const USUAL_SIZE: PanelSize = {span: 1, height: 0};

export function isUsual({order, pinned, hidden, sizes}: Layout): boolean {
  return order.length + pinned.length + hidden.length + Object.keys(sizes).length === 0;
}

/** The panels to show in their order, pinned ones first. */
export function arranged(ids: readonly string[], layout: Layout): string[] {
  const rank = new Map(layout.order.map((id, i) => [id, i]));
  const pinned = new Set(layout.pinned);
  const hidden = new Set(layout.hidden);
  return ids.map((id, i) => ({id, place: rank.get(id) ?? layout.order.length + i}))
    .filter(({id}) => !hidden.has(id))
    .sort((a, b) => Number(pinned.has(b.id)) - Number(pinned.has(a.id)) || a.place - b.place)
    .map(({id}) => id);
}

const toggled = (list: readonly string[], id: string) => (list.includes(id) ? list.filter((each) => each !== id) : [...list, id]);

export const withPin = (layout: Layout, id: string): Layout => ({...layout, pinned: toggled(layout.pinned, id)});

export const withHidden = (layout: Layout, id: string): Layout => ({...layout, hidden: toggled(layout.hidden, id)});

/** Puts a panel in the place of another one; pinned panels change places among themselves only. */
export function withMoved(layout: Layout, ids: readonly string[], id: string, onto: string): Layout {
  const shown = arranged(ids, layout);
  const [from, to] = [shown.indexOf(id), shown.indexOf(onto)];
  if (from < 0 || to < 0 || from === to || layout.pinned.includes(id) !== layout.pinned.includes(onto)) return layout;
  shown.splice(from, 1);
  shown.splice(to, 0, id);
  return {...layout, order: [...shown, ...layout.order.filter((each) => !shown.includes(each))]};
}

/** One place on: `by` is 1 or -1. */
export function withStep(layout: Layout, ids: readonly string[], id: string, by: number): Layout {
  const shown = arranged(ids, layout);
  const onto = shown[shown.indexOf(id) + by];
  return onto === undefined ? layout : withMoved(layout, ids, id, onto);
}

export function sizeOf(layout: Layout, id: string): PanelSize {
  return (Object.hasOwn(layout.sizes, id) ? layout.sizes[id] : undefined) ?? USUAL_SIZE;
}

export function withSize(layout: Layout, id: string, size: PanelSize): Layout {
  const span = Math.min(MOST_SPAN, Math.max(1, Math.round(size.span)));
  const height = size.height > 0 ? Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, Math.round(size.height))) : 0;
  const {[id]: _, ...others} = layout.sizes;
  return {...layout, sizes: span === 1 && height === 0 ? others : {...others, [id]: {span, height}}};
}

const names = (value: unknown): string[] => (Array.isArray(value) ? [...new Set(value.filter((each): each is string => typeof each === 'string'))] : []);

/** What was stored, as far as it makes sense. */
export function readLayout(stored: unknown): Layout {
  if (typeof stored !== 'object' || stored === null) return USUAL_LAYOUT;
  const {order, pinned, hidden, sizes} = stored as Record<string, unknown>;
  let layout: Layout = {order: names(order), pinned: names(pinned), hidden: names(hidden), sizes: {}};
  for (const [id, size] of Object.entries(typeof sizes === 'object' && sizes !== null ? sizes : {})) {
    const {span, height} = (size ?? {}) as Record<string, unknown>;
    if (typeof span === 'number' && typeof height === 'number' && span >= 1 && height >= 0) layout = withSize(layout, id, {span, height});
  }
  return layout;
}
