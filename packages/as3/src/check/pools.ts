// Pools: limits of their members, and one address twice, of which the device keeps the last in silence.
import type { Problem } from '@fairlead/core';
import { canonicalAddress, isRecord } from '../application.ts';
import { listOf, type Placed, type Scene } from './scene.ts';

const limits: Readonly<Record<string, readonly [least: number, most: number]>> = {
  servicePort: [0, 65535],
  ratio: [0, 100],
  connectionLimit: [0, 2147483647],
  priorityGroup: [0, 65535],
};

export function poolProblems({ objects }: Scene): Problem[] {
  return objects.filter(({ object }) => object.class === 'Pool').flatMap(ofPool);
}

function ofPool({ object, path }: Placed): Problem[] {
  const seen = new Set<string>();
  return listOf(object['members']).flatMap((member, i) => {
    const at = `${path}/members/${i}`;
    if (!isRecord(member)) return [{ code: 'invalid' as const, message: 'a member is an object', path: at }];
    const again = listOf(member['serverAddresses']).flatMap((address) => {
      const name = `${canonicalAddress(String(address))} port ${String(member['servicePort'])}`;
      const isAgain = seen.has(name);
      seen.add(name);
      return isAgain
        ? [{ code: 'invalid' as const, message: `${name} is a member already`, path: `${at}/serverAddresses` }]
        : [];
    });
    return [...ofMember(member, at), ...again];
  });
}

function ofMember(member: Record<string, unknown>, path: string): Problem[] {
  const problems: Problem[] = [];
  for (const [word, [least, most]] of Object.entries(limits)) {
    const value = member[word];
    const fits = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
    if (value !== undefined && !fits)
      problems.push({ code: 'invalid', message: `a whole number from ${least} to ${most}`, path: `${path}/${word}` });
  }
  const { shareNodes } = member;
  // CIS writes null where a template leaves it out, and AS3 then refuses the whole declaration.
  if (shareNodes !== undefined && typeof shareNodes !== 'boolean')
    problems.push({ code: 'invalid', message: 'should be boolean', path: `${path}/shareNodes` });
  return problems;
}
