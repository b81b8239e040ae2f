// Parts of tickets, compiled once for each edit. Of each an outline is kept, and not its objects: those stand in its
// ConfigMap, which the copy of the target cluster has anyway.
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import { ok, type Problem, type Result } from '@fairlead/core';
import type { KubeObject } from '@fairlead/kube';
import { unknownToCisC, type Foreigner } from './cis-limits.ts';
import { canariesOf, type Desk } from './desk.ts';
import { digest } from './digest.ts';
import { sortedKeys } from './json.ts';
import { ticketName } from './names.ts';
import { part, type Part } from './part.ts';

/** What is asked of a part far more often than its objects are. */
export interface Outline extends Pick<Part, 'pools' | 'digest'> {
  /** Objects that CIS-C has no class for. */
  foreigners: Foreigner[];
}

export interface Parts {
  outlineOf(ticket: Lbticket, loadbalancer: Loadbalancer): Result<Outline>;
  /** `held`: what the ConfigMap has of the ticket. It is taken where it is what the ticket compiles to. */
  partOf(ticket: Lbticket, loadbalancer: Loadbalancer, held: () => Part | undefined): Result<Part>;
  /** Its ConfigMap has it now. */
  partWritten(ticket: string): void;
  forgetPart(ticket: string): void;
}

interface Kept {
  edits: string;
  problem?: Problem;
  /** As text: read in a microsecond, where ten thousand trees of objects would slow each full collection of garbage. */
  outline: string;
  /** Of the objects, in the order of a ConfigMap. */
  seal: string;
  /** The part, until its ConfigMap has it. */
  text?: string | undefined;
}

/**
 * Kept until the ticket, one of its rules or its Loadbalancer is edited, or a canary shifts; a new status is no edit.
 * `random`: makes seals that nobody can forge who writes into a ConfigMap, for he does not know what they begin with.
 */
export function parts(given: Pick<Desk, 'directory' | 'lbcanaries' | 'random'>): Parts {
  const kept = new Map<string, Kept>();
  const secret = Array.from({ length: 4 }, () => given.random()).join();
  const sealOf = (items: Part['items']) => digest(secret + JSON.stringify(items));

  const keptOf = (ticket: Lbticket, loadbalancer: Loadbalancer): Kept => {
    const name = ticketName(ticket);
    const rules = given.directory.rulesOf(name);
    const canaries = canariesOf(given, name);
    const edits = [
      wishOf(ticket),
      ticket.status?.veip ?? ticket.spec.veip,
      ...[loadbalancer, ...rules].map(editOf),
      ...canaries.map(({ metadata, status }) => `${metadata.uid}/${status?.phase}/${status?.weight}`),
    ].join(' ');
    const present = kept.get(name);
    if (present?.edits === edits) return present;
    const made = part({ loadbalancer, ticket, rules, canaries });
    const now = made.ok ? { edits, ...shortened(made.value) } : { edits, problem: made.problem, outline: '', seal: '' };
    kept.set(name, now);
    return now;
  };
  const shortened = (made: Part): Omit<Kept, 'edits'> => {
    const { pools, digest, items } = made;
    const outline: Outline = { pools, digest, foreigners: unknownToCisC(items) };
    return { outline: JSON.stringify(outline), seal: sealOf(inOrder(items)), text: JSON.stringify(made) };
  };

  return {
    outlineOf(ticket, loadbalancer) {
      const { problem, outline } = keptOf(ticket, loadbalancer);
      return problem ? { ok: false, problem } : ok(JSON.parse(outline) as Outline);
    },
    partOf(ticket, loadbalancer, held) {
      const own = keptOf(ticket, loadbalancer);
      if (own.problem) return { ok: false, problem: own.problem };
      const there = held();
      if (there && sealOf(there.items) === own.seal) {
        own.text = undefined;
        const { pools, digest } = JSON.parse(own.outline) as Outline;
        return ok({ items: there.items, pools, digest });
      }
      // Let go once it was written, and now something else stands there.
      if (own.text === undefined) kept.delete(ticketName(ticket));
      const { text = '' } = keptOf(ticket, loadbalancer);
      return ok(JSON.parse(text) as Part);
    },
    partWritten(name) {
      const own = kept.get(name);
      if (own) own.text = undefined;
    },
    forgetPart: (name) => void kept.delete(name),
  };
}

/** As a ConfigMap has them. */
const inOrder = (items: Part['items']): Part['items'] =>
  sortedKeys(items, (objects) => sortedKeys(objects, (one) => one));

/** All that is asked for but the addresses: those that we choose are written there by ourselves. */
const wishOf = ({ metadata, spec }: Lbticket): string =>
  `${metadata.uid}/${digest(JSON.stringify({ ...spec, veip: undefined, ltmip: undefined }))}`;

const editOf = ({ metadata }: KubeObject): string =>
  `${metadata.uid}/${metadata.generation ?? metadata.resourceVersion}`;
