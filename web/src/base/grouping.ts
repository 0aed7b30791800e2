// SPDX-License-Identifier: MIT
// Folds a long list of parameters into a tree: by module, by type, or by depth.

export interface Member {
  name: string;
  /** Empty if unknown: a group of several parameters, or a layer. */
  shape: readonly number[];
}

export type GroupBy = 'module' | 'type' | 'depth';

export interface TreeNode {
  /** What it is called below its parent. */
  label: string;
  /** Unique within the tree. */
  path: string;
  /** Positions of all members below, in the list's order. */
  members: number[];
  /** Empty if the members themselves are all there is below. */
  children: TreeNode[];
}

/** Buckets of depth: as many as people tell apart at a glance. */
const MOST_DEPTHS = 12;
/** Nodes beside each other before they are bundled, and bundles they then make. */
const MOST_BESIDE = 64;
const BUNDLES = 24;

/** The module a parameter belongs to: its name without the last word. */
export function moduleOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(0, dot);
}

/** What kind of parameter it is, as far as its name and shape tell. */
export function typeOf(member: Member): string {
  const word = member.name.slice(member.name.lastIndexOf('.') + 1);
  if (/bias/.test(word)) return 'bias';
  const dimensions = member.shape.length;
  if (dimensions >= 3 && dimensions <= 5) return 'convolution weight';
  if (dimensions === 2) return /emb|wte|wpe/i.test(member.name) ? 'embedding weight' : 'linear weight';
  if (dimensions === 1) return /weight|gamma|scale/.test(word) ? 'norm weight' : 'vector';
  if (/weight/.test(word)) return 'weight';
  return 'other';
}

function gather(members: readonly Member[], keyOf: (member: Member, position: number) => string): TreeNode[] {
  const nodes = new Map<string, TreeNode>();
  members.forEach((member, position) => {
    const key = keyOf(member, position);
    const node = nodes.get(key);
    if (node) node.members.push(position);
    else nodes.set(key, {label: key, path: key, members: [position], children: []});
  });
  return [...nodes.values()];
}

/** Joins chains: a node with a single child that has the same members is that child. */
function joined(node: TreeNode): TreeNode {
  const children = node.children.map(joined);
  const only = children.length === 1 ? children[0] : undefined;
  if (only && only.members.length === node.members.length) {
    return {...only, label: node.label ? `${node.label}.${only.label}` : only.label};
  }
  return {...node, children};
}

function byModule(members: readonly Member[]): TreeNode[] {
  const root: TreeNode = {label: '', path: '', members: [], children: []};
  const known = new Map<string, TreeNode>();
  members.forEach((member, position) => {
    let node = root;
    node.members.push(position);
    const module = moduleOf(member.name);
    for (const word of module === '' ? [] : module.split('.')) {
      const path = node.path === '' ? word : `${node.path}.${word}`;
      let child = known.get(path);
      if (!child) {
        child = {label: word, path, members: [], children: []};
        known.set(path, child);
        node.children.push(child);
      }
      child.members.push(position);
      node = child;
    }
  });
  // Members beside modules get a place of their own, so that a node has either children or members.
  const settle = (node: TreeNode) => {
    node.children.forEach(settle);
    if (node.children.length === 0) return;
    const below = new Set(node.children.flatMap((child) => child.members));
    const own = node.members.filter((position) => !below.has(position));
    if (own.length > 0) {
      node.children.unshift({label: '(own)', path: `${node.path}.(own)`, members: own, children: []});
    }
  };
  settle(root);
  if (root.children.length === 0) return root.members.length ? [{...root, label: 'model', path: 'model'}] : [];
  return root.children.map(joined);
}

function byDepth(members: readonly Member[]): TreeNode[] {
  const depths = new Map<string, number>();
  const depthOf = members.map((member) => {
    // A group of the record may be a depth already.
    const module = moduleOf(member.name) || member.name;
    if (!depths.has(module)) depths.set(module, depths.size);
    return depths.get(module) as number;
  });
  const width = Math.max(1, Math.ceil(depths.size / MOST_DEPTHS));
  const digits = String(Math.max(0, depths.size - 1)).length;
  const numbered = (depth: number) => String(depth).padStart(digits, '0');
  return gather(members, (_, position) => {
    const first = Math.floor((depthOf[position] as number) / width) * width;
    const last = Math.min(first + width, depths.size) - 1;
    return first === last ? `depth ${numbered(first)}` : `depth ${numbered(first)} to ${numbered(last)}`;
  });
}

/** Many nodes beside each other are bundled, so that no list is too long to fold. */
function bundled(nodes: readonly TreeNode[]): TreeNode[] {
  const within = nodes.map((node) => ({...node, children: bundled(node.children)}));
  if (within.length <= MOST_BESIDE) return within;
  const size = Math.ceil(within.length / BUNDLES);
  return Array.from({length: Math.ceil(within.length / size)}, (_, i) => {
    const children = within.slice(i * size, (i + 1) * size);
    const [first, last] = [children[0] as TreeNode, children[children.length - 1] as TreeNode];
    return {label: `${first.label} to ${last.label}`, path: `${first.path} to ${last.path}`, members: children.flatMap((node) => node.members), children};
  });
}

export function groupMembers(members: readonly Member[], by: GroupBy): TreeNode[] {
  if (by === 'module') return bundled(byModule(members));
  return by === 'type' ? gather(members, typeOf) : byDepth(members);
}

/** A row of the folded tree: a closed node that stands for its members, or one member. */
export interface TreeRow {
  label: string;
  /** Of the closed node; empty for a member. */
  path: string;
  members: number[];
}

/** What is seen of a tree, in its order. */
export function rowsOf(nodes: readonly TreeNode[], names: readonly string[], closed: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  const walk = (node: TreeNode) => {
    if (closed.has(node.path) && node.members.length > 1) {
      rows.push({label: `${node.path} (${node.members.length})`, path: node.path, members: node.members});
    } else if (node.children.length > 0) {
      node.children.forEach(walk);
    } else {
      for (const member of node.members) rows.push({label: names[member] ?? '', path: '', members: [member]});
    }
  };
  nodes.forEach(walk);
  return rows;
}

/** Nodes to close so that at most `limit` rows are seen, if closing can do that: the deepest first. */
export function closedToFit(nodes: readonly TreeNode[], limit: number): Set<string> {
  const levels: TreeNode[][] = [];
  const collect = (node: TreeNode, level: number) => {
    (levels[level] ??= []).push(node);
    node.children.forEach((child) => collect(child, level + 1));
  };
  nodes.forEach((node) => collect(node, 0));
  const closed = new Set<string>();
  let rows = nodes.reduce((sum, node) => sum + node.members.length, 0);
  for (let level = levels.length - 1; level >= 0 && rows > limit; --level) {
    for (const node of levels[level] as TreeNode[]) {
      closed.add(node.path);
    }
    rows = rowsOf(nodes, [], closed).length;
  }
  return closed;
}
