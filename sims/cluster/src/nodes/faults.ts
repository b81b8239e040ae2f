// Node loss on command: a Node with the annotation `sim.fairlead.io/lost: "true"` is lost until that is taken off.
import type { Controller, Kit } from '../kit.ts';
import type { Node } from '../kube/objects.ts';
import { annotation } from '../kubelet/annotations.ts';
import { queue } from '../turns/queue.ts';

export interface NodeFaultsOptions {
  kit: Kit;
  /** Our nodes. */
  nodes: ReadonlyMap<string, string>;
  lose(node: string): Promise<void>;
  restore(node: string): void;
}

export interface NodeFaults extends Controller {
  /** Before nodes are made Ready: one that was lost when the simulator ended stays so. */
  prepare(): Promise<void>;
}

export function nodeFaults({ kit, nodes, lose, restore }: NodeFaultsOptions): NodeFaults {
  const lost = new Set<string>();
  const isWanted = (name: string): boolean => {
    const node: Node | undefined = kit.stores.nodes.get(name);
    return node !== undefined && annotation(node, 'lost') === 'true';
  };
  const look = async (name: string): Promise<void> => {
    if (isWanted(name) === lost.has(name)) return;
    if (lost.delete(name)) {
      kit.log(`node ${name} is back, as its annotation is off`);
      restore(name);
    } else {
      lost.add(name);
      kit.log(`node ${name} is lost, as its annotation says`);
      await lose(name);
    }
  };
  const turns = queue({
    name: 'node fault',
    timers: kit.timers,
    log: kit.log,
    async turn(name) {
      await look(name);
      return { after: 'change' };
    },
  });
  kit.stores.nodes.onChange(({ key }) => {
    if (nodes.has(key)) turns.add(key);
  });
  return {
    prepare: async () => void (await Promise.all([...nodes.keys()].map(look))),
    open: () => turns.open(),
    close: () => turns.close(),
  };
}
