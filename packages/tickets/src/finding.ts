// What a turn found about a ticket, before anything is written: the event for the table, and what the status will say.
import type { Problem } from '@fairlead/core';
import type { Next } from './desk.ts';
import type { Event } from './life.ts';
import type { Fact, Facts, StatusChange } from './status.ts';

export interface Finding extends Pick<StatusChange, 'veip' | 'ltmip' | 'application' | 'filing'> {
  /** Absent: the ticket stays in its state. */
  event?: Event | undefined;
  /** For history and Event. */
  why: string;
  /** The user who answered for the approver, where that is known; empty where it was no user for sure. */
  who?: string | undefined;
  facts: Facts;
  /** When to look again if nothing changes; after a change of state the next look is at once. */
  next: Next;
}

export const onChange: Next = { after: 'change' };

export const stay = (facts: Facts = {}, next: Next = onChange): Finding => ({ why: '', facts, next });

export const holds = (reason: string, message = ''): Fact => ({ status: 'True', reason, message });

export const fails = (reason: string, message: string): Fact => ({ status: 'False', reason, message });

/** A problem in the user's words: what is wrong, and where. */
export const said = ({ message, path }: Problem): string => (path ? `${path}: ${message}` : message);

export const failed = (problem: Problem): Fact => fails(problem.code, said(problem));

/** It may hold or not: whoever would know cannot be asked. */
export const unknown = (problem: Problem): Fact => ({ ...failed(problem), status: 'Unknown' });
