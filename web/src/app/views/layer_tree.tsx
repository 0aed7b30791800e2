// SPDX-License-Identifier: MIT
// All layers as a list that folds, each with its histogram at the slider's step.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {formatNumber} from '../../base/format';
import type {TreeNode} from '../../base/grouping';
import {entryAt} from '../../widgets/scenes/heat_values';
import {cutFrame} from '../../widgets/cut_frame';
import {smallHistogram} from '../../widgets/scenes/small_histogram';
import {Flow} from '../../widgets/flow';
import {Scene} from '../../widgets/scene';
import {useOnScreen, useWatched} from '../../widgets/use_watched';
import type {Points, Series} from '../../wire/types';
import type {RunViewProps} from '../view_props';

export interface TreeProps extends RunViewProps {
  names: readonly string[];
  closed: ReadonlySet<string>;
  toggle(path: string): void;
  /** Of individual gradients, by name. */
  histograms: ReadonlyMap<string, Series>;
  /** The chosen quantity in words. */
  quantity: string;
  /** Its values, by position. */
  pointsOf(member: number): Points | undefined;
  onOpen(name: string): void;
}

/** Tiles of one group before more are asked for. */
const TILES = 48;
/** Groups of so few layers stand side by side. */
const SMALL = 4;

function valueAt(points: Points | undefined, step: number): string {
  if (!points) return '';
  const i = entryAt(points, step, {first: -Infinity, last: Infinity});
  const value = points.values[i < 0 ? points.values.length - 1 : i];
  return value === undefined ? '' : formatNumber(value);
}

interface TileProps extends RunViewProps {
  name: string;
  /** Its name below its heading. */
  short: string;
  /** What the number is. */
  quantity: string;
  series: Series | undefined;
  points: Points | undefined;
  onOpen(name: string): void;
}

function TileValue({run, points, quantity}: Pick<TileProps, 'run' | 'points' | 'quantity'>) {
  const step = useWatched(run.step);
  const value = valueAt(points, step ?? run.lastStep);
  return <span class="tile-value">{value && <><span class="tile-quantity">{quantity}</span> <span>{value}</span></>}</span>;
}

function TilePicture({app, run, name, series}: RunViewProps & {name: string; series: Series}) {
  useWatched(run.version);
  useWatched(run.step);
  useEffect(() => run.want([], [series.id]), [run, series.id]);
  const frame = run.frameOf(series.id);
  const drawing = useMemo(() => (frame ? smallHistogram({label: name, frame: cutFrame(frame)}) : null), [frame, name]);
  return drawing && <Scene drawing={drawing} palette={app.palette} />;
}

/** Beyond the screen a tile is its name: a thousand of them must not follow every step. */
function Tile({app, run, name, short, quantity, series, points, onOpen}: TileProps) {
  const place = useRef<HTMLButtonElement>(null);
  const isOnScreen = useOnScreen(place);
  return (
    <button type="button" ref={place} class="tile" title={name} aria-label={name} onClick={() => onOpen(name)}>
      <bdi class="tile-name">{short}</bdi>
      {isOnScreen && <TileValue run={run} points={points} quantity={quantity} />}
      {series && <span class="tile-picture">{isOnScreen && <TilePicture app={app} run={run} name={name} series={series} />}</span>}
    </button>
  );
}

/** What a name says that its heading does not. */
export function nameBelow(name: string, heading: string): string {
  const module = heading.replace(/\.\(own\)$/, '');
  return name.startsWith(`${module}.`) ? name.slice(module.length + 1) : name;
}

function Tiles(props: TreeProps & {path: string; members: readonly number[]}) {
  const [shown, setShown] = useState(TILES);
  const {members} = props;
  return (
    <>
      <div class="tiles">
        {members.slice(0, shown).map((member) => {
          const name = props.names[member] ?? '';
          return <Tile key={name} app={props.app} run={props.run} name={name} short={nameBelow(name, props.path)} quantity={props.quantity} series={props.histograms.get(name)}
            points={props.pointsOf(member)} onOpen={props.onOpen} />;
        })}
      </div>
      {shown < members.length && <button type="button" class="more" onClick={() => setShown(shown + TILES)}>
        Show {Math.min(TILES, members.length - shown)} more of {members.length}</button>}
    </>
  );
}

function isSmall(node: TreeNode): boolean {
  return node.children.length === 0 && node.members.length <= SMALL;
}

function Node(props: TreeProps & {node: TreeNode}) {
  const {node, closed, toggle} = props;
  const isOpen = !closed.has(node.path);
  return (
    <li class={isSmall(node) || !isOpen ? 'small' : ''}>
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => toggle(node.path)}>
        <span class="fold-sign" aria-hidden="true">{isOpen ? '▾' : '▸'}</span>{node.label} <span class="quiet">{node.members.length}</span>
      </button>
      {isOpen && (node.children.length > 0
        ? <ul>{node.children.map((child) => <Node key={child.path} {...props} node={child} />)}</ul>
        : <Tiles {...props} path={node.path} members={node.members} />)}
    </li>
  );
}

export function LayerTree(props: TreeProps & {nodes: readonly TreeNode[]}) {
  const nodes = props.nodes.map((node) => <Node key={node.path} {...props} node={node} />);
  // Modules of a few parameters each: rows of them without holes.
  return props.nodes.every(isSmall) ? <Flow class="layer-tree even" tag="ul" least={360}>{nodes}</Flow> : <ul class="layer-tree">{nodes}</ul>;
}
