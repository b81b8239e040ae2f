// A simulated BIG-IP: iControl REST and AS3, a data plane that carries real traffic, and iRules run by a real Tcl.

export { bigip, type Bigip, type BigipOptions, type Call, type Counters } from './bigip.ts';
export { realClock, type Clock } from './clock.ts';
export type { Saved } from './device.ts';
export type { Fault, FaultKind } from './faults.ts';
export type { Slowness, TenantResult } from './as3/deploy.ts';
export { loopback, type Bind, type Place } from './plane/bind.ts';
export type { MemberStatus } from './plane/members.ts';
export type { VirtualStatus } from './plane/plane.ts';
export {
  tclRunner,
  type RunnerEnvironment,
  type RunnerError,
  type RunnerOutcome,
  type RunnerPool,
  type RunnerRequest,
  type RunnerRule,
  type TclRunner,
} from './irule/runner.ts';
