// The check before sending: what AS3 lets through and the device refuses, or quietly takes otherwise (spec as3.md §7.2).
import type { Problem } from '@fairlead/core';
import { isRecord } from '../application.ts';
import { destinationProblems } from './destinations.ts';
import { nameProblems } from './names.ts';
import { pointerProblems } from './pointers.ts';
import { poolProblems } from './pools.ts';
import { ruleProblems } from './rules.ts';
import { scene, type Scene } from './scene.ts';
import { serviceProblems } from './services.ts';
import { wordProblems } from './words.ts';

const checks: readonly ((scene: Scene) => Problem[])[] = [
  nameProblems,
  wordProblems,
  pointerProblems,
  destinationProblems,
  serviceProblems,
  poolProblems,
  ruleProblems,
];

/**
 * All that is wrong with a declaration (class AS3 or ADC), each with its path as AS3 writes it,
 * `/tenant/application/object/property`. None: it may be sent, though the schema may still have its say.
 */
export function check(declaration: unknown): Problem[] {
  const adc = isRecord(declaration) && declaration['class'] === 'AS3' ? declaration['declaration'] : declaration;
  if (!isRecord(adc) || adc['class'] !== 'ADC')
    return [{ code: 'invalid', message: 'no declaration of class ADC', path: '/class' }];
  const laidOut = scene(adc);
  return checks.flatMap((one) => one(laidOut));
}
