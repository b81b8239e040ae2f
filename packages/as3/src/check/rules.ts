// Rules: whether they hold together, name only what is there, and fit the services they are attached to.
import type { Problem } from '@fairlead/core';
import { structure, type RuleStructure } from '../irule/structure.ts';
import { listOf, pointed, pointerText, type Placed, type Scene } from './scene.ts';

export function ruleProblems(scene: Scene): Problem[] {
  const rules = scene.objects.filter(({ object }) => object.class === 'iRule');
  const read = new Map<string, RuleStructure>();
  const problems = rules.flatMap((rule) => ofRule(rule, scene, read));
  return [...problems, ...scene.objects.flatMap((service) => misplaced(service, read))];
}

function ofRule(rule: Placed, scene: Scene, read: Map<string, RuleStructure>): Problem[] {
  const text = textOf(rule.object['iRule']);
  const path = `${rule.path}/iRule`;
  // By URL or from elsewhere on the device: not here to be read.
  if (text === undefined) return [];
  const found = structure(text);
  if (!found.ok) return [{ ...found.problem, path }];
  read.set(rule.path, found.value);
  const { pools, lists } = found.value;
  const problems = [
    ...missing(rule, scene, { names: pools, wanted: 'Pool' }),
    ...missing(rule, scene, { names: lists, wanted: 'Data_Group' }),
  ];
  for (const [named] of text.matchAll(/(?<![A-Za-z0-9_./-])\/[A-Za-z][\w.-]*\/[A-Za-z][\w.-]*\/[A-Za-z][\w.-]+/g)) {
    const isOurs = scene.applications.has(named.split('/').slice(0, 3).join('/'));
    if (isOurs && !scene.byPath.has(named)) problems.push({ code: 'invalid', message: `there is no ${named}`, path });
  }
  if (text.includes('`') && rule.object['expand'] !== false)
    problems.push({ code: 'invalid', message: 'AS3 expands backquotes unless expand is false', path });
  return problems;
}

function textOf(rule: unknown): string | undefined {
  if (typeof rule === 'string') return rule;
  const base64 = typeof rule === 'object' && rule !== null && 'base64' in rule ? rule.base64 : undefined;
  return typeof base64 === 'string'
    ? new TextDecoder().decode(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)))
    : undefined;
}

function missing(rule: Placed, scene: Scene, { names, wanted }: { names: string[]; wanted: string }): Problem[] {
  return names.flatMap((name) => {
    const path = pointed(rule, name);
    const isElsewhere = !scene.tenants.has(path.split('/')[1] ?? '');
    if (isElsewhere || scene.byPath.get(path)?.object.class === wanted) return [];
    return [
      {
        code: 'invalid' as const,
        message: `the rule names ${wanted} ${path}, which is not there`,
        path: `${rule.path}/iRule`,
      },
    ];
  });
}

/** A rule on HTTP events is refused on a service without HTTP profile. */
function misplaced(service: Placed, read: Map<string, RuleStructure>): Problem[] {
  if (service.object.class !== 'Service_TCP' && service.object.class !== 'Service_UDP') return [];
  return listOf(service.object['iRules']).flatMap((value, i) => {
    const events = read.get(pointed(service, pointerText(value) ?? ''))?.events ?? [];
    const event = events.find((name) => name.startsWith('HTTP_'));
    if (!event) return [];
    const message = `${service.object.class} has no HTTP profile, so no ${event}`;
    return [{ code: 'invalid' as const, message, path: `${service.path}/iRules/${i}` }];
  });
}
